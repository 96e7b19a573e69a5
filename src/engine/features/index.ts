// The table of features: which function serves which method. What clients ask first is there from the start; the rest
// is loaded when first asked for, or when there is time. Subscriptions are not: a change right after must not be missed.

import { methods } from '../../protocol/methods.ts';
import type { CacheHint, Completion, PromptResult, ReadResult } from '../../protocol/model.ts';
import type { Feature } from '../feature.ts';
import { type FeatureInfo, lazyFeature } from '../lazy-feature.ts';
import { discover, initialize, ping } from './lifecycle.ts';
import { listTools, toolFailureHandling } from './list-tools.ts';
import { setLevel } from './logging.ts';
import { listen, subscribe, unsubscribe } from './subscriptions.ts';

const notCached: CacheHint = { ttlMs: 0, cacheScope: 'private' };

/** How answers of middleware are spelled while the feature they stand in for is not there yet. */
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

let callTool: Feature | undefined;

/** Loads what serves tool calls, once for all servers. */
export async function loadCallTool(): Promise<Feature> {
  return (callTool ??= (await import('./call-tool.ts')).callTool as Feature);
}

/** New for each server, so that one table can not be changed under another. */
export const features = (): readonly (readonly [string, Feature])[] => [
  [methods.initialize.name, initialize],
  [methods.ping.name, ping],
  [methods.discover.name, discover],
  [methods.listTools.name, listTools],
  [methods.callTool.name, callTool ?? lazyFeature(toolFailureHandling as FeatureInfo, loadCallTool)],
  [methods.setLevel.name, setLevel],
  [methods.listResources.name, lazyFeature(gathered, async () => (await resources()).listResources)],
  [methods.listResourceTemplates.name, lazyFeature(listed, async () => (await resources()).listResourceTemplates)],
  [methods.readResource.name, lazyFeature(read, async () => (await resources()).readResource)],
  [methods.subscribe.name, subscribe],
  [methods.unsubscribe.name, unsubscribe],
  [methods.listen.name, listen],
  [methods.listPrompts.name, lazyFeature(listed, async () => (await prompts()).listPrompts)],
  [methods.getPrompt.name, lazyFeature(prompted, async () => (await prompts()).getPrompt)],
  [methods.complete.name, lazyFeature(completed, async () => (await import('./completion.ts')).complete)],
];
