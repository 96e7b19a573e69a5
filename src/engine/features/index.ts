// The table of features: which function serves which method. What clients ask first is there from the start; the rest
// is loaded when first asked for, or when there is time. Subscriptions are not: a change right after must not be missed.

import { methods } from '../../protocol/methods.ts';
import type { Feature } from '../feature.ts';
import { lazyFeature } from '../lazy-feature.ts';
import { discover, initialize, ping } from './lifecycle.ts';
import { listTools, toolTimeoutMs } from './list-tools.ts';
import { setLevel } from './logging.ts';
import { listen, subscribe, unsubscribe } from './subscriptions.ts';

const work = { pace: 'work' } as const;
const instant = { pace: 'instant' } as const;
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
  [methods.callTool.name, callTool ?? lazyFeature({ pace: 'work', timeoutMs: toolTimeoutMs }, loadCallTool)],
  [methods.setLevel.name, setLevel],
  [methods.listResources.name, lazyFeature(work, async () => (await resources()).listResources)],
  [methods.listResourceTemplates.name, lazyFeature(instant, async () => (await resources()).listResourceTemplates)],
  [methods.readResource.name, lazyFeature(work, async () => (await resources()).readResource)],
  [methods.subscribe.name, subscribe],
  [methods.unsubscribe.name, unsubscribe],
  [methods.listen.name, listen],
  [methods.listPrompts.name, lazyFeature(instant, async () => (await prompts()).listPrompts)],
  [methods.getPrompt.name, lazyFeature(work, async () => (await prompts()).getPrompt)],
  [methods.complete.name, lazyFeature(work, async () => (await import('./completion.ts')).complete)],
];
