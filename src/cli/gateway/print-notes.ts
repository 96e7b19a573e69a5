// Prints what a configuration says about itself that is not an error.

import type { GatewaySettings } from '../../app/gateway/gateway-settings.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';
import type { Output } from '../ui/output.ts';

export function printNotes(notes: GatewaySettings['notes'], { info, style }: Pick<Output, 'info' | 'style'>): void {
  for (const { level, text } of notes) {
    info(`${level === 'warning' ? style.warn('warning:') : 'note:'} ${lineForTerminal(text, 500)}\n`);
  }
}
