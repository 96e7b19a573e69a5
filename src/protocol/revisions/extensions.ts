// Identifiers of the official extensions.

export const tasksExtension = 'io.modelcontextprotocol/tasks';
