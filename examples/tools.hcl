# Tools by hand for programs whose arguments need more than an option for each
# value: a picture out of a video, a comparison of two texts, a query of a database.
server "media" {
  transport "cli" {
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
    timeout = "2m"

    tool "picture" {
      description = "Shows one picture of a video."
      argv        = [["-ss", "{at}"], "-i", "{video}", "-frames:v", "1", "{size}", "{out:png}"]
      access      = "read"
      output      = "image"

      argument "video" {
        type     = "path"
        required = true
      }
      argument "at" {
        pattern     = "[0-9]{1,2}(:[0-9]{2}){1,2}"
        description = "Where in the video, such as 01:30. By default the first picture."
      }
      argument "size" {
        type    = "enum"
        default = "small"
        map = {
          small = ["-vf", "scale=320:-2"]
          full  = []
        }
      }
    }

    tool "codecs" {
      description = "Lists the codecs in a video or a sound."
      command     = ["ffprobe", "-v", "error", "-of", "json", "-show_streams"]
      argv        = ["-i", "{file}"]
      access      = "read"
      timeout     = "10s"
      output      = "json"
      select      = ".streams[].codec_name"

      argument "file" {
        type     = "path"
        required = true
      }
    }
  }
}

server "texts" {
  transport "cli" {
    command = ["git"]

    tool "compare" {
      description = "Shows the lines in which two texts differ, or the words."
      argv        = ["diff", "--no-index", "{words}", "--", "{file:old:txt}", "{file:new:txt}"]
      access      = "read"
      ok_codes    = [0, 1]

      argument "old" {
        required = true
      }
      argument "new" {
        required = true
      }
      argument "words" {
        type = "bool"
        map  = { true = ["--word-diff=plain"] }
      }
    }
  }
}

server "database" {
  transport "cli" {
    command = ["sqlite3", "-safe", "-json"]
    cwd     = "data" # a directory without the configuration, so that new files can be made

    tool "query" {
      description       = "Runs SQL in a database of the directory."
      argv              = ["{database}"]
      stdin             = true
      stdin_required    = true
      stdin_description = "One or more statements of SQLite."
      output            = "json"

      argument "database" {
        type     = "path"
        required = true
      }
    }
  }
}
