// Names, URIs, filters, overrides and views: pure functions.

export type { ExposedItem } from './exposed-items.ts';
export { exposedName, splitExposedName } from './exposed-name.ts';
export { compileFilter } from './filters.ts';
export { overrideArguments } from './overrides.ts';
export { slugOf } from './slug.ts';
export type { UriRoute } from './uris.ts';
export {
  type ExposedView,
  exposeServer,
  exposeView,
  findBareTool,
  isInView,
  type ListedServer,
  type OwnItems,
} from './views.ts';
