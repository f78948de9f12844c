/** Icons: strokes on a field of 24 by 24, in the colour of the text beside them, which says the same in words. */
const STROKES = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  projects: 'M4 7.5 12 3l8 4.5v9L12 21l-8-4.5zM4 7.5l8 4.5 8-4.5M12 12v9',
  home: 'M4 11 12 4l8 7v9h-5v-6H9v6H4z',
  key: 'M14.5 9.5a4.5 4.5 0 1 1-2.2-3.9 4.5 4.5 0 0 1 2.2 3.9zM13.5 12l7 7M17 16l-2 2',
  files: 'M6 3h8l4 4v14H6zM14 3v5h4',
  mail: 'M3 6h18v12H3zM3 7l9 7 9-7',
  template: 'M4 4h16v16H4zM4 9h16M10 9v11',
  hook: 'M4 12h11M11 8l4 4-4 4M14 4h6v16h-6',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  list: 'M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01',
  contacts:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5a6 6 0 0 1 3.5 5.5',
  broadcast: 'M4 10v4h3l9 5V5l-9 5zM19 9a4 4 0 0 1 0 6M7 14l1 6h3',
  sequence: 'M5 4h6v5H5zM13 15h6v5h-6zM8 9v4a4 4 0 0 0 4 4h1',
  ban: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM5.6 5.6l12.8 12.8',
  vault: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 15v2',
  cloud: 'M7 18a4.5 4.5 0 0 1-.5-9A6 6 0 0 1 18 10a4 4 0 0 1-.5 8z',
  audit: 'M6 3h12v18H6zM9 8h6M9 12h6M9 16h3',
  globe: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  inbox: 'M4 13 6 5h12l2 8v6H4zM4 13h5l1 2h4l1-2h5',
  jobs: 'M4 12a8 8 0 0 1 14-5l2 2M20 4v5h-5M20 12a8 8 0 0 1-14 5l-2-2M4 20v-5h5',
  people: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  backup: 'M4 5h16v5H4zM6 10v10h12V10M10 14h4',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  screen: 'M3 5h18v11H3zM8 20h8M12 16v4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5 10 17l9-10',
  plus: 'M12 5v14M5 12h14',
  up: 'M6 14l6-6 6 6',
  down: 'M6 10l6 6 6-6',
  back: 'M14 6l-6 6 6 6',
  forward: 'M10 6l6 6-6 6',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  eye_off:
    'M4 4l16 16M6.5 7.5A15 15 0 0 0 2.5 12S6 18.5 12 18.5a9 9 0 0 0 4-1M10 5.7a9 9 0 0 1 2-.2c6 0 9.5 6.5 9.5 6.5a15 15 0 0 1-2.5 3.2M10 10a3 3 0 0 0 4 4',
  bold: 'M7 5h6a3.5 3.5 0 0 1 0 7H7zM7 12h7a3.5 3.5 0 0 1 0 7H7z',
  italic: 'M10 5h8M6 19h8M14 5l-4 14',
  heading: 'M6 5v14M18 5v14M6 12h12',
  quote: 'M5 6h4v6H5zM9 12c0 3-1.5 5-4 6M15 6h4v6h-4zM19 12c0 3-1.5 5-4 6',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1.5-1.5',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.500 9h.01',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
} as const;

export type IconName = keyof typeof STROKES;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={STROKES[name]} />
    </svg>
  );
}
