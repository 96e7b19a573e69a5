// Peers have a colour and a name everywhere.

import type { JSX } from 'preact';
import type { PeerInfo } from '../../api.ts';
import { Text } from '../components/basics.tsx';

/** Colours of peers; the name is always beside it. */
const colours = 8;

export const peerClass = (number: number): string => `peer-${number % colours}`;

const peerName = (peer: PeerInfo | undefined, number: number): string => peer?.client ?? `Client ${number}`;

export function Peer({ peer, number }: { peer: PeerInfo | undefined; number: number }): JSX.Element {
  return (
    <span class="peer">
      <span class={`peer-dot ${peerClass(number)}`} aria-hidden="true" />
      <span class="peer-name">
        <Text text={peerName(peer, number)} />
      </span>
    </span>
  );
}
