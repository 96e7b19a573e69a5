// Search views: a short list of tools, and tools that find and call the others.

export { isShortListed, listModeOf } from './list-size.ts';
export { prepareSearchTools, type SearchTools } from './search-tools.ts';
