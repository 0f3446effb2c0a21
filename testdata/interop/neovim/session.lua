-- One session of Neovim with "junctor lsp": a mistake, a completion, help, a jump, and the
-- correction of the mistake. It writes what it saw as JSON to $REPORT.
local report = {}

local function wait(what, condition)
  if not vim.wait(20000, condition, 50) then
    error("timeout: " .. what)
  end
end

local function messages()
  local all = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(all, { line = d.lnum, from = d.col, to = d.end_col, message = d.message, source = d.source })
  end
  return all
end

local function ask(client, method, line, column)
  vim.api.nvim_win_set_cursor(0, { line + 1, column })
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function session()
  vim.cmd("edit " .. vim.env.CONFIG)
  local id = vim.lsp.start_client({ name = "junctor", cmd = { vim.env.JUNCTOR, "lsp" }, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, id)
  local client = vim.lsp.get_client_by_id(id)
  wait("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
  report.mistakes = messages()

  report.completions = {}
  for _, item in ipairs(ask(client, "textDocument/completion", 6, 4).items) do
    table.insert(report.completions, item.label)
  end
  report.hover = ask(client, "textDocument/hover", 4, 6).contents.value

  -- "local.org" stands behind a letter of four bytes and two UTF-16 code units.
  vim.api.nvim_win_set_cursor(0, { 5, 34 })
  vim.lsp.buf.definition()
  wait("the jump", function() return vim.api.nvim_win_get_cursor(0)[1] ~= 5 end)
  report.jump = vim.api.nvim_get_current_line()

  vim.api.nvim_buf_set_text(0, 2, 2, 2, 7, { "prefix" })
  wait("the correction", function() return #vim.diagnostic.get(0) == 0 end)
  report.corrected = vim.api.nvim_buf_get_lines(0, 2, 3, false)[1]

  vim.lsp.stop_client(id)
  wait("the end of the server", function() return vim.lsp.get_client_by_id(id) == nil end)
end

local ok, why = pcall(session)
if not ok then
  report.error = tostring(why)
end
local file = assert(io.open(vim.env.REPORT, "w"))
file:write(vim.json and vim.json.encode(report) or vim.fn.json_encode(report))
file:close()
vim.cmd("qall!")
