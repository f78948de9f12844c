/** Opens the data directory for one verb. */
import type { Config } from '../config.ts';
import type { CliHost } from '../platform/cli/cli.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import { systemClock } from '../platform/host/clock.ts';
import { openDataDirectory } from '../platform/host/data-directory.ts';
import { requireDatabase } from '../platform/host/database-file.ts';
import { silentLogger } from '../platform/host/logger.ts';
import { touchWakeFile } from '../platform/jobs/wake-file.ts';
import { createServices, type Services } from './app.ts';

/** See `CliHost.open`. */
export async function openServices(config: Config): ReturnType<CliHost<Services>['open']> {
  const clock = systemClock;
  // Otherwise a mistyped or forgotten --data-dir would look like an installation that lost everything.
  requireDatabase(config.data_dir);
  const directory = await openDataDirectory(config, { clock });
  const { database, key_ring } = directory;
  const services = createServices(config, { clock, logger: silentLogger, database, key_ring });
  return {
    services,
    record: recordAudit,
    async close() {
      await services.mailer.stop(0);
      services.webhook_sender.stop();
      services.report_reader.stop();
      services.beside.stop();
      if (database.hasWritten()) touchWakeFile(config.data_dir, clock.now());
      await directory.close();
    },
  };
}
