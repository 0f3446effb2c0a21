# Two tools by hand. Their argument lists are fixed but for the slots and the
# options named here. Nothing can be added, and no shell runs.
server "files" {
  transport "cli" {
    command    = ["grep"]
    cwd        = env("SEARCH_DIR", ".")
    data_codes = [1] # grep exits with 1 when it finds nothing

    tool "search" {
      description = "Searches the files below the directory for lines with a text, and shows them with their line numbers."
      argv        = ["--recursive", "--line-number", "--fixed-strings", "--max-count={most}", "--", "{text}", "."]
      access      = "read"
      argument "text" {
        description = "The text to look for, literally."
        required    = true
        pattern     = ".{1,200}"
      }
      argument "most" {
        type        = "integer"
        description = "How many lines of a file to show at most."
        default     = "5"
        minimum     = 1
        maximum     = 100
      }
      argument "ignore_case" {
        type        = "bool"
        flag        = "--ignore-case"
        description = "Whether upper and lower case are the same."
      }
    }

    tool "count" {
      description = "Counts the lines with a text in each file below the directory."
      argv        = ["--recursive", "--count", "--fixed-strings", "--", "{text}", "."]
      access      = "read"
      argument "text" {
        required = true
        pattern  = ".{1,200}"
      }
    }

    limits {
      cpu    = "10s"
      memory = "512MiB"
    }
  }
}
