/** What `satchel doctor` asks of the database's replica, where there is one. */
import { join } from 'node:path';
import { type CheckedDirectory, type HealthCheck, ok, warning } from '../../platform/host/health-check.ts';
import { shellWord } from '../../platform/words/phrases.ts';
import { LITESTREAM_FOLDER } from './litestream.ts';
import { describeMissing, replicaStatus } from './service.ts';

const CHECK = 'replica';

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
            return [
              warning(CHECK, message, 'journalctl -u satchel-litestream, which says what its store answers'),
            ];
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
