// What `mooring init` writes: a file that changes nothing, with everything a person may want to change in it.

import { schemaUrl } from './schema.ts';

/** The text of a new configuration file. Every line of its own comment is a valid setting once uncommented. */
export function configTemplate(profile: string): string {
  return `{
  // Settings of Mooring. Comments and trailing commas are fine. \${NAME} is taken from the environment,
  // \${NAME:-word} with a default. Relative paths are those of this file's folder, ~/ is the home folder.
  // "mooring config --config FILE" shows what comes of it, and from where.
  "$schema": "${schemaUrl}",

  // The ready-made server to run; "mooring serve --help" lists them.
  "profile": "${profile}",

  // Folders whose files are offered as file:// resources. None: no files.
  // "roots": ["~/Documents/notes"],

  // What the profile leaves off unless asked: "commands", "workers".
  // "enable": ["commands"],

  // Programs that execute_command may run, instead of those the profile documents.
  // "commands": ["ls", "cat", "date"],

  // Where notes, counters and audit files are kept. Default: the data folder of this platform.
  // "data": "~/.local/share/mooring",

  // "audit": { "file": "audit.jsonl", "fsync": "interval" },

  // Who may call what, as a policy file; "mooring policy check" explains what a call would get.
  // "policy": "policy.yaml",

  "http": {
    // "enabled": true,
    "host": "127.0.0.1",
    "port": 8000,
    "path": "/mcp",
    // "allowedOrigins": ["https://app.example"],
    // "publicUrl": "https://mcp.example.org",
    // "metricsPath": "/metrics",
  },

  // Needed to listen on anything but this machine. Keep secrets in the environment, or this file at mode 600.
  // "auth": { "tokens": ["\${MOORING_TOKEN}"] },

  // Options of packs, by name.
  // "packs": { "search": {} },

  // A plugin uses only what it was granted.
  // "plugins": [{ "source": "./plugins/weather", "grant": ["network"], "config": {} }],

  // Servers that client commands may call by name: mooring tools memory
  "mcpServers": {
    // "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] },
    // "remote": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer \${REMOTE_TOKEN}" } },
  },
}
`;
}
