// Icons, drawn as lines in the colour of the text. Decoration only: the text beside an icon has its meaning.

import type { JSX } from 'preact';

const paths = {
  overview: 'M3 12l9-8 9 8M5 10v10h5v-6h4v6h5V10',
  timeline: 'M4 6h10M4 12h16M4 18h7M18 4v4M14 16v4',
  tools: 'M14.5 6a4 4 0 0 1 5 5L11 19.5 4.5 13 13 4.5M7 20l-3-3',
  resources: 'M4 5h6l2 3h8v11H4z',
  prompts: 'M4 5h16v11H9l-5 4z',
  skills: 'M12 6c-3-2-6-2-9-1v14c3-1 6-1 9 1 3-2 6-2 9-1V5c-3-1-6-1-9 1zM12 6v14',
  tasks: 'M4 6l2 2 3-4M4 13l2 2 3-4M4 20l2 2 3-4M13 6h7M13 13h7M13 20h7',
  sessions: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6M2 20a6 6 0 0 1 12 0M16 5a3 3 0 0 1 0 6M17 14a6 6 0 0 1 5 6',
  metrics: 'M4 20V4M4 20h16M8 16l4-5 3 3 5-7',
  audit: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM9 12l2 2 4-4',
  auth: 'M7 14a4 4 0 1 1 3.5-6H21v4h-3v3h-4v-3h-3.5A4 4 0 0 1 7 14',
  about: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M12 11v6M12 7.5v.5',
  upstreams: 'M12 4v16M5 9h14M5 15h14',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  check: 'M4 12l5 6L20 6',
  warning: 'M12 4l9 16H3zM12 10v5M12 17.5v.5',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M16 16l5 5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M20 14A8 8 0 1 1 10 4a6 6 0 0 0 10 10z',
  system: 'M4 5h16v11H4zM9 20h6',
  in: 'M20 12H5M11 6l-6 6 6 6',
  out: 'M4 12h15M13 6l6 6-6 6',
  open: 'M9 6l6 6-6 6',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  up: 'M12 19V6M6 11l6-6 6 6',
  down: 'M12 5v13M6 13l6 6 6-6',
  keyboard: 'M3 6h18v12H3zM7 10h.5M11 10h.5M15 10h.5M7 14h10',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
