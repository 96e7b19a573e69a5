// Names, URIs, filters, overrides and views: pure functions.

export { type ExposedItem, exposeItems, type NamedItem, type NamedList } from './exposed-items.ts';
export { bareName, exposedName, maxNameChars, separator, splitExposedName } from './exposed-name.ts';
export { type CompiledFilter, compileFilter } from './filters.ts';
export { overrideArguments, overrideTool } from './overrides.ts';
export { isSlug, maxSlugChars, shortHash, slugOf } from './slug.ts';
export { qualifyUri, type ServerUris, splitQualifiedUri, type UriRoute, UriRoutes } from './uris.ts';
export {
  type BareTool,
  type ExposedView,
  exposeServer,
  exposeView,
  findBareTool,
  isInView,
  type ListedServer,
} from './views.ts';
