/** Requests by route and status, and their times. Unknown paths count as one: no client makes labels. */
import { monotonicMs } from '../host/clock.ts';
import type { EventLoopWatch } from '../host/event-loop.ts';
import { Histogram, WAIT_BOUNDS_S } from '../host/measures.ts';
import { PLANE_PREFIX, type Route } from './routes.ts';

interface MeasuredRequests {
  method: string;
  /** The route's pattern, such as /api/v1/objects/:public_id. */
  route: string;
  status: number;
  durations: Histogram;
}

export class RequestMeasures {
  readonly #of_route = new Map<Route | null, Map<number, Histogram>>();

  constructor(private readonly event_loop: Pick<EventLoopWatch, 'enter' | 'leave'>) {}

  /** A request begins; returns when, for `note`. */
  begin(): number {
    this.event_loop.enter();
    return monotonicMs();
  }

  /** Counts a request that is answered; null where it fits no route. */
  note(route: Route | null, status: number, started_ms: number): void {
    this.event_loop.leave();
    let of_status = this.#of_route.get(route);
    if (!of_status) {
      of_status = new Map();
      this.#of_route.set(route, of_status);
    }
    let durations = of_status.get(status);
    if (!durations) {
      durations = new Histogram(WAIT_BOUNDS_S);
      of_status.set(status, durations);
    }
    durations.observeSince(started_ms);
  }

  list(): MeasuredRequests[] {
    return [...this.#of_route].flatMap(([route, of_status]) =>
      [...of_status].map(([status, durations]) => ({
        method: route?.method ?? 'any',
        route: route ? `${PLANE_PREFIX[route.plane]}${route.path}` : 'unknown',
        status,
        durations,
      })),
    );
  }
}
