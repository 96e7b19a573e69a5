// Search views: a short list of tools, and tools that find and call the others.

export { isShortListed, type ListMode, listModeOf } from './list-size.ts';
export { prepareSearchTools, type SearchTools, searchToolNames } from './search-tools.ts';
