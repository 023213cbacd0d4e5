-- Drives Neovim's own language client on one memory file and writes what it saw as JSON. What to do is in LERIM_NEOVIM,
-- as JSON, too. Works with Neovim 0.7, the version of Debian 12.
local request = vim.fn.json_decode(vim.env.LERIM_NEOVIM)
local seen = {}

local function until_true(what, condition)
  if not vim.wait(request.deadline, condition, 20) then
    error("Neovim waited in vain for " .. what)
  end
end

local function ask(method, params)
  local answers, problem = vim.lsp.buf_request_sync(0, method, params, request.deadline)
  if problem then
    error(method .. ": " .. problem)
  end
  for _, answer in pairs(answers) do
    return answer.result
  end
end

local function move_to(text)
  assert(vim.fn.search("\\V" .. vim.fn.escape(text, "\\"), "wc") > 0, "no " .. text)
end

local function run()
  vim.cmd("edit " .. vim.fn.fnameescape(request.broken))
  local client = vim.lsp.start_client({
    name = "lerim",
    cmd = request.command,
    root_dir = request.root,
    workspace_folders = { { uri = vim.uri_from_fname(request.root), name = "repo" } },
    init_options = { trusted = true, settings = { idleSeconds = 0 } },
  })
  vim.lsp.buf_attach_client(0, client)
  until_true("the server", function()
    return vim.lsp.buf_get_clients(0)[client] ~= nil
  end)
  until_true("a diagnostic", function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.diagnostic = vim.diagnostic.get(0)[1].message

  vim.cmd("edit " .. vim.fn.fnameescape(request.memory))
  vim.lsp.buf_attach_client(0, client)
  move_to(request.link)
  local definition = ask("textDocument/definition", vim.lsp.util.make_position_params())
  seen.definition = definition and vim.uri_to_fname(definition.uri)

  local line = vim.fn.search("^related:", "w")
  vim.fn.append(line, "  - " .. request.typed)
  vim.fn.cursor(line + 1, #request.typed + 5)
  local params = vim.lsp.util.make_position_params()
  params.position.character = #request.typed + 4
  local items = vim.lsp.util.extract_completion_items(ask("textDocument/completion", params))
  seen.completion = vim.tbl_map(function(item)
    return item.label
  end, items)
  vim.cmd("undo")

  move_to(request.id)
  vim.lsp.buf.rename(request.new_id)
  until_true("the renamed file", function()
    return vim.fn.filereadable(request.renamed) == 1
  end)
  vim.cmd("wall")

  vim.cmd("edit " .. vim.fn.fnameescape(request.archived))
  vim.lsp.buf_attach_client(0, client)
  local context = vim.lsp.util.make_range_params()
  context.context = { diagnostics = {} }
  for _, action in ipairs(ask("textDocument/codeAction", context)) do
    if action.title == "Archive Memory" then
      vim.lsp.buf.execute_command(action.command)
    end
  end
  until_true("the archived file", function()
    return vim.fn.filereadable(request.archived) == 0
  end)
end

local worked, problem = pcall(run)
seen.problem = not worked and tostring(problem) or nil
vim.fn.writefile({ vim.fn.json_encode(seen) }, request.output)
vim.cmd("qall!")
