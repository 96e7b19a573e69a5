// `file://` resources: everything below the configured folders, and single files under names of their own. Reading is
// by the one resolver; what lies outside, or outside the client's roots, does not exist.

import { Moment } from '../../common/clock.ts';
import { silentLogger } from '../../common/logger.ts';
import { subscribedUris } from '../../engine/changes/subscribed-uris.ts';
import type { Server } from '../../engine/server.ts';
import type { Resource } from '../../protocol/model.ts';
import { type FileTree, type OwnFiles, openRoots, toUri } from '../../security/files/tree.ts';
import { FolderWatch } from '../workspace/folder-watch.ts';
import { mimeTypeOf } from '../workspace/mime.ts';
import { readResource } from '../workspace/read-resource.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** A file the operator put on the list by name. It stays readable whatever the client's roots are. */
export interface NamedFile {
  readonly path: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface FileOptions {
  readonly named?: readonly NamedFile[];
  /** Never served, not even by name. */
  readonly own?: OwnFiles | undefined;
  /** Notify subscribers of changes. Default true. */
  readonly watch?: boolean;
  readonly maxWatchedFolders?: number;
}

/** How long a listing is believed where not every folder could be watched. */
const listingTtlMs = 2_000;

/** Installs the resources; resolves to what closes them. */
export async function installFiles(
  server: Server,
  workspace: Workspace,
  options: FileOptions = {},
): Promise<(() => void) | undefined> {
  const named = options.named ?? [];
  const { own } = options;
  const namedTree =
    named.length === 0
      ? undefined
      : openRoots(
          named.map(({ path }) => path),
          { own },
        );
  for (const file of named) installNamed(server, namedTree as FileTree, file);
  const listing = workspace.whole === undefined ? undefined : installTree(server, workspace, workspace.whole);
  const trees = [namedTree, workspace.whole].filter((tree) => tree !== undefined);
  if (options.watch === false || trees.length === 0) return undefined;
  return watchTrees(server, trees, listing, options);
}

function installNamed(server: Server, tree: FileTree, file: NamedFile): void {
  const { description, mimeType = mimeTypeOf(file.path), name } = file;
  const uri = toUri(tree.resolve(file.path).path);
  server.resource(uri, {
    ...{ name, mimeType },
    ...(description === undefined ? {} : { description }),
    read: (ctx) => readResource(tree, { file: uri, uri, mimeType }, ctx),
  });
}

/** The listing of the tree, remembered until something changes. */
interface CachedListing {
  forget(): void;
  /** Whether changes are reported, so that the listing is valid until then. */
  trusted: boolean;
}

function installTree(server: Server, workspace: Workspace, tree: FileTree): CachedListing {
  let known: { readonly read: Moment; readonly resources: Promise<readonly Resource[]> } | undefined;
  const kept: CachedListing = { forget: () => (known = undefined), trusted: false };
  server.resourceTemplate('file:///{+path}', {
    name: 'Files',
    description: `Files below ${tree.roots.map(({ path }) => path).join(', ')}`,
    list: () => {
      if (known === undefined || (!kept.trusted && known.read.ageMs > listingTtlMs)) {
        known = { read: new Moment(), resources: listTree(tree) };
        known.resources.catch(kept.forget);
      }
      return known.resources;
    },
    read: async (_variables, ctx, uri) => {
      const area = await workspace.of(ctx);
      return area.tree === undefined
        ? undefined
        : readResource(area.tree, { file: uri, uri, mimeType: mimeTypeOf(uri) }, ctx);
    },
  });
  return kept;
}

async function listTree(tree: FileTree): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  for (const root of tree.roots) {
    if (root.kind === 'file') {
      found.push({ uri: root.uri, name: root.path, mimeType: mimeTypeOf(root.path) });
      continue;
    }
    const { entries } = await tree.list(root.path, { recursive: true });
    for (const { kind, uri, path, size, modifiedMs } of entries) {
      if (kind !== 'file') continue;
      const lastModified = new Date(modifiedMs).toISOString();
      const name = path.slice(root.path.length).replace(/^[/\\]/, '');
      found.push({ uri, name, mimeType: mimeTypeOf(path), size, annotations: { lastModified } });
    }
  }
  return found;
}

function watchTrees(
  server: Server,
  trees: readonly FileTree[],
  listing: CachedListing | undefined,
  { maxWatchedFolders }: FileOptions,
): () => void {
  const watches = trees.map(
    (tree) =>
      new FolderWatch(
        tree,
        {
          fileChanged: (path) => server.resourceUpdated(toUri(path), undefined, 'each-process'),
          listChanged: () => {
            listing?.forget();
            server.resourcesChanged('each-process');
          },
        },
        {
          logger: server.logger ?? silentLogger,
          ...(maxWatchedFolders === undefined ? {} : { maxFolders: maxWatchedFolders }),
        },
      ),
  );
  const started = Promise.all(watches.map((each) => each.start())).then(() => {
    if (listing === undefined) return;
    listing.trusted = watches.every(({ complete }) => complete);
    listing.forget();
  });
  started.catch((error: unknown) => server.logger?.error('files are not watched', { error }));
  // The watch starts before the subscription is confirmed, so that a change right after it is not missed.
  server.around((request, next) => {
    const uris = subscribedUris(request.method, request.params).filter((uri) => uri.startsWith('file:'));
    if (uris.length === 0) return next();
    return Promise.all(uris.flatMap((uri) => watches.map((each) => each.follow(uri)))).then(next);
  });
  return () => {
    for (const each of watches) each.close();
  };
}
