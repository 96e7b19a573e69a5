// The table of features: which function serves which method.

import { methods } from '../../protocol/methods.ts';
import type { Feature } from '../feature.ts';
import { complete } from './completion.ts';
import { discover, initialize, ping } from './lifecycle.ts';
import { setLevel } from './logging.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { listResources, listResourceTemplates, readResource } from './resources.ts';
import { listen, subscribe, unsubscribe } from './subscriptions.ts';
import { callTool, listTools } from './tools.ts';

export const features: readonly (readonly [string, Feature])[] = [
  [methods.initialize.name, initialize],
  [methods.ping.name, ping],
  [methods.discover.name, discover],
  [methods.listTools.name, listTools],
  [methods.callTool.name, callTool],
  [methods.listResources.name, listResources],
  [methods.listResourceTemplates.name, listResourceTemplates],
  [methods.readResource.name, readResource],
  [methods.subscribe.name, subscribe],
  [methods.unsubscribe.name, unsubscribe],
  [methods.listen.name, listen],
  [methods.listPrompts.name, listPrompts],
  [methods.getPrompt.name, getPrompt],
  [methods.complete.name, complete],
  [methods.setLevel.name, setLevel],
];
