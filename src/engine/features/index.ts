// The table of features: which one serves which method. What clients use first is loaded at start, the rest on first use.
// Subscriptions are loaded at start too: a change right after the request must not be missed.

import { methods } from '../../protocol/methods.ts';
import type { CacheHint, Completion, PromptResult, ReadResult } from '../../protocol/model.ts';
import { loadValidator } from '../../schema/index.ts';
import type { Feature } from '../contract.ts';
import { type FeatureInfo, lazyFeature } from '../lazy-feature.ts';
import { discover, initialize, ping } from './lifecycle.ts';
import { listTools } from './list-tools.ts';
import { setLevel } from './logging.ts';
import { listen, subscribe, unsubscribe } from './subscriptions.ts';
import { toolOutcome } from './tool-outcome.ts';

const notCached: CacheHint = { ttlMs: 0, cacheScope: 'private' };

/** Encodes results of middleware while the feature itself is not loaded yet. */
const featureInfo = (duration: FeatureInfo['duration'], encode: Feature['encode']): FeatureInfo => ({
  duration,
  encode,
});
const text: Feature['encode'] = (result) => result as string;
const listed = featureInfo('immediate', text);
const gathered = featureInfo('handler', text);
const read = featureInfo('handler', (result, { codec }) => codec.readResult(result as ReadResult, notCached));
const prompted = featureInfo('handler', (result, { codec }) => codec.promptResult(result as PromptResult));
const completed = featureInfo('handler', (result, { codec }) => codec.completion(result as Completion));

const resources = () => import('./resources.ts');
const prompts = () => import('./prompts.ts');
const skills = () => import('./skills.ts');

let callTool: Feature | undefined;

/** Loads what serves tool calls, once for all servers: the feature, and the validator of plain JSON Schemas. */
export async function loadCallTool(): Promise<Feature> {
  if (callTool === undefined) {
    const [feature] = await Promise.all([import('./call-tool.ts'), loadValidator()]);
    callTool = feature.callTool as Feature;
  }
  return callTool;
}

/** Fills the table of a server. Each has its own, since lazy features are replaced in it once they are loaded. */
export function addFeatures(table: Map<string, Feature>): void {
  const lazy = (info: FeatureInfo, load: () => Promise<Feature>): Feature => lazyFeature(table, info, load);
  const rows: readonly (readonly [string, Feature])[] = [
    [methods.initialize.name, initialize],
    [methods.ping.name, ping],
    [methods.discover.name, discover],
    [methods.listTools.name, listTools],
    [methods.callTool.name, callTool ?? lazy(toolOutcome as FeatureInfo, loadCallTool)],
    [methods.setLevel.name, setLevel],
    [methods.listResources.name, lazy(gathered, async () => (await resources()).listResources)],
    [methods.listResourceTemplates.name, lazy(listed, async () => (await resources()).listResourceTemplates)],
    [methods.readResource.name, lazy(read, async () => (await resources()).readResource)],
    [methods.subscribe.name, subscribe],
    [methods.unsubscribe.name, unsubscribe],
    [methods.listen.name, listen],
    [methods.listPrompts.name, lazy(listed, async () => (await prompts()).listPrompts)],
    [methods.getPrompt.name, lazy(prompted, async () => (await prompts()).getPrompt)],
    [methods.listSkills.name, lazy(listed, async () => (await skills()).listSkills)],
    [methods.getSkill.name, lazy(listed, async () => (await skills()).getSkill)],
    [methods.readDirectory.name, lazy(gathered, async () => (await skills()).readDirectory)],
    [methods.complete.name, lazy(completed, async () => (await import('./completion.ts')).complete)],
  ];
  for (const [method, feature] of rows) table.set(method, feature);
}
