/** What `satchel doctor` asks of the database's replica, where there is one. */
import { join, resolve } from 'node:path';
import { type Clock, MINUTE_MS, SECOND_MS, toIso } from '../../platform/host/clock.ts';
import {
  type CheckedDirectory,
  type HealthCheck,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { askLitestream, hasReplica, LITESTREAM_FOLDER } from './litestream.ts';
import { describeMissing, replicaStatus } from './service.ts';

const CHECK = 'replica';
/** Nothing that lasts so long mends itself. */
const FAR_BEHIND_MS = 10 * MINUTE_MS;

export function replicaChecks({ data_dir, sqlite, now_ms }: CheckedDirectory): HealthCheck[] {
  return [
    {
      check: CHECK,
      async run() {
        const status = await replicaStatus(data_dir, sqlite, now_ms);
        const missing = describeMissing(status.not_replicated);
        const since = status.last_replicated_at ?? 'it started';
        switch (status.state) {
          case 'none':
            return [];
          case 'replicating':
            return [ok(CHECK, `It has all of ${since}.${missing}`)];
          case 'starting':
            return [ok(CHECK, 'Litestream has just started, or its store has not answered yet.')];
          case 'behind': {
            const message = `Litestream has replicated nothing since ${since}, for ${status.behind_seconds} s.`;
            const remedy = 'journalctl -u satchel-litestream, which says what its store answers';
            const is_far = (status.behind_seconds ?? 0) * SECOND_MS >= FAR_BEHIND_MS;
            return [(is_far ? problem : warning)(CHECK, message, remedy)];
          }
          case 'stopped': {
            const folder = shellWord(join(data_dir, LITESTREAM_FOLDER));
            const message =
              'Litestream has replicated this database, and does not run, or not as satchel replica config says.';
            return [
              warning(
                CHECK,
                message,
                `systemctl start satchel-litestream, or where it is no longer wanted: rm -r ${folder}`,
              ),
            ];
          }
        }
      },
    },
  ];
}

/** Whether it has been ten minutes behind, or Litestream away for so long, as the looks one after the other tell. */
export function replicaAwayCheck({
  config,
  clock,
}: {
  config: { data_dir: string };
  clock: Clock;
}): HealthCheck {
  let fine_ms = clock.now();
  return {
    check: CHECK,
    async run() {
      const found = await askLitestream(resolve(config.data_dir));
      const last_ms = found.is_running ? found.last_sync_ms : null;
      const now_ms = clock.now();
      if (!found.is_running && !hasReplica(config.data_dir)) fine_ms = now_ms;
      else if (last_ms !== null) fine_ms = last_ms;
      if (now_ms - fine_ms < FAR_BEHIND_MS) return [];
      const message = `Litestream has replicated nothing since ${toIso(fine_ms)}.`;
      return [
        problem(CHECK, message, 'journalctl -u satchel-litestream, or systemctl start satchel-litestream'),
      ];
    },
  };
}
