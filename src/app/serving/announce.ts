// What is printed when a server listens: its address, and how to connect clients.

import type { StreamLogger } from '../../logging/logger.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import type { HttpSettings } from '../settings/settings.ts';

/** Printed at any log level: programs wait for this line. */
export function announce(text: string, fields: JsonObject, logger: StreamLogger): void {
  if (logger.enabled('info')) logger.info(text, fields);
  else process.stderr.write(`${text}\n`);
}

/** Prints how to connect clients, on a terminal or on request. */
export async function printSetup(
  url: string,
  { settings }: ResolvedSettings,
  hasAuthentication: boolean,
  showSetup: boolean,
  logger: StreamLogger,
): Promise<void> {
  if (!showSetup && process.stderr.isTTY !== true) return;
  await logger.flush();
  const { addressForClients, setupText } = await import('./setup-text.ts');
  const { publicUrl } = settings.http as HttpSettings;
  process.stderr.write(setupText(addressForClients(url, publicUrl, new URL(url).pathname), hasAuthentication));
}
