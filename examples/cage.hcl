# Two tools written by hand. The argument lists are fixed but for their slots and
# the options named here: nothing can be added, and nothing is ever run by a shell.
server "files" {
  transport "cli" {
    command    = ["grep"]
    cwd        = env("SEARCH_DIR", ".")
    data_codes = [1] # grep found nothing, which is an answer

    tool "search" {
      description = "Searches the files below the directory for lines with a text, and shows them with their line numbers."
      argv        = ["--recursive", "--line-number", "--fixed-strings", "--max-count={most}", "--", "{text}", "."]
      access      = "read"
      argument "text" {
        description = "The text to look for, as it stands."
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
        description = "Whether capital letters are the same as small ones."
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
