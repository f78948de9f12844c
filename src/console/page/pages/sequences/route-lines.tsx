/** The lines of the picture: from a step, through the gap beside its lane and above the lanes, to the head of another track. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

interface Lines {
  width: number;
  height: number;
  paths: readonly string[];
}

/** Of the corners, and between lines that run beside one another. */
const RADIUS = 8;
const GAP = 8;

export function RouteLines(props: {
  picture: RefObject<HTMLDivElement | null>;
  routes: readonly { step: string; track: string }[];
  tracks: readonly string[];
  /** In their order, with which the cards move. */
  steps: readonly string[];
}) {
  const { picture, routes, tracks, steps } = props;
  const [lines, setLines] = useState<Lines | null>(null);
  const drawn = JSON.stringify([routes, tracks, steps]);
  useLayoutEffect(() => {
    const place = picture.current;
    if (!place || routes.length === 0) {
      setLines(null);
      return;
    }
    const draw = (): void => setLines(linesOf(place, routes, tracks));
    const observer = new ResizeObserver(draw);
    observer.observe(place);
    // Numbers and sentences that change move the cards below them.
    for (const card of place.querySelectorAll('[data-step]')) observer.observe(card);
    draw();
    return () => observer.disconnect();
  }, [drawn]);
  if (!lines) return null;
  return (
    <svg class="route-lines" width={lines.width} height={lines.height} aria-hidden="true">
      <defs>
        <marker
          id="route-end"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          orient="auto"
        >
          <path d="M0 0L8 4L0 8z" />
        </marker>
      </defs>
      {lines.paths.map((d) => (
        <path key={d} d={d} marker-end="url(#route-end)" />
      ))}
    </svg>
  );
}

function linesOf(
  place: HTMLDivElement,
  routes: readonly { step: string; track: string }[],
  tracks: readonly string[],
): Lines {
  const origin = place.getBoundingClientRect();
  const boxOf = (selector: string, name: string): DOMRect | null =>
    [...place.querySelectorAll<HTMLElement>(`[${selector}]`)]
      .find((each) => each.getAttribute(selector) === name)
      ?.getBoundingClientRect() ?? null;
  const paths = routes.flatMap(({ step, track }, index) => {
    const card = boxOf('data-step', step);
    const head = boxOf('data-lane', track);
    if (!card || !head) return [];
    const from = { x: card.right - origin.left, y: card.top - origin.top + Math.min(card.height / 2, 40) };
    const end = { x: head.left - origin.left + head.width / 2, y: head.top - origin.top - 2 };
    // Each target has a level of its own above the lanes, each line a place of its own beside its lane.
    const level = end.y - 12 - (tracks.indexOf(track) % 3) * GAP;
    const gutter = from.x + 12 + (index % 4) * GAP;
    return [
      roundedPath([from, { x: gutter, y: from.y }, { x: gutter, y: level }, { x: end.x, y: level }, end]),
    ];
  });
  return { width: place.scrollWidth, height: place.scrollHeight, paths };
}

/** Lines from point to point, with round corners. */
function roundedPath(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  let before = first;
  rest.forEach((corner, index) => {
    const next = rest[index + 1];
    if (!next) {
      path += `L${corner.x} ${corner.y}`;
      return;
    }
    const toward = (to: { x: number; y: number }): string => {
      const length = Math.hypot(to.x - corner.x, to.y - corner.y) || 1;
      const part = Math.min(RADIUS, length / 2) / length;
      return `${corner.x + (to.x - corner.x) * part} ${corner.y + (to.y - corner.y) * part}`;
    };
    path += `L${toward(before)}Q${corner.x} ${corner.y} ${toward(next)}`;
    before = corner;
  });
  return path;
}
