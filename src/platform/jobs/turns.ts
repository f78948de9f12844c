/**
 * Turns: thousands of jobs that come at once from one source, such as the mails of a sequence, let the few of another source
 * of the same project through. Each source numbers its jobs, beginning with the number that is being served, and jobs run in
 * the order of their numbers (start-time fair queueing). The number stands in `run_at`, where it is long past.
 */
import { MAX_TURN } from '../../limits.ts';
import type { Tx } from '../database/database.ts';
import { rawSql } from '../database/raw-sql.ts';
import { laneOf, type NewJob } from './store.ts';

const firstTurn = rawSql<{ run_at: number }, [number, string, number]>(
  `SELECT run_at FROM jobs WHERE status = 'pending' AND priority = +? AND lane = +? AND project_id = +?
   ORDER BY run_at LIMIT 1`,
);

export class Turns {
  /** The last number of each source, by group. After a start they begin anew with what is being served. */
  readonly #last = new Map<string, Map<string, number>>();

  /** The `run_at` of a job that is due at once, of a source that takes turns with others. */
  next(tx: Tx, job: NewJob, source: string): number {
    const { priority, project_id } = job;
    const lane = laneOf(job);
    const group = `${priority} ${lane} ${project_id}`;
    const served = firstTurn.get(tx, priority, lane, project_id)?.run_at ?? MAX_TURN;
    // Where nothing waits but retries, whoever was served before has no more right than others.
    const lasts = (served < MAX_TURN && this.#last.get(group)) || new Map<string, number>();
    const turn = Math.max(served < MAX_TURN ? served : 0, lasts.get(source) ?? 0) + 1;
    lasts.set(source, turn);
    this.#last.set(group, lasts);
    return turn;
  }
}
