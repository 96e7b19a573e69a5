// What a start asks of Node's own modules, taken from them by name. An import of a module would first make a namespace of
// all it exports, and for these two that takes longer than everything a start asks of them.

export const { existsSync, mkdirSync, statSync } = process.getBuiltinModule('node:fs');
export const { basename, dirname, isAbsolute, join, posix, resolve, win32 } = process.getBuiltinModule('node:path');
