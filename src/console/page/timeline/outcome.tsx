// How a message ended, in a word and a colour.

import type { JSX } from 'preact';
import { Badge } from '../components/basics.tsx';
import { isErrorRow, type Row } from './rows.ts';

export function Outcome({ row }: { row: Row }): JSX.Element | null {
  const { entry, response } = row;
  const code = response?.code ?? entry.code;
  if (entry.kind === 'invalid') return <Badge tone="bad">rejected</Badge>;
  if (isErrorRow(row)) return <Badge tone="bad">{code === undefined ? 'error' : `error ${code}`}</Badge>;
  if (entry.kind === 'notification') return <span class="muted">notification</span>;
  if (entry.kind === 'response' || response !== undefined) {
    const outcome = response?.outcome ?? entry.outcome ?? 'ok';
    return <Badge tone={outcome === 'ok' ? 'good' : 'warning'}>{outcome}</Badge>;
  }
  return <Badge tone="accent">open</Badge>;
}
