/** An app where no server runs: for one verb, and for the OpenAPI document. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../config.ts';
import type { ApiDocument } from '../operation/client/document.ts';
import { askServer } from '../operation/doctor/asking.ts';
import { Doctor, examine } from '../operation/doctor/service.ts';
import type { Opened } from '../operation/mcp/cli.ts';
import { createTools } from '../operation/mcp/tools.ts';
import type { CliHost } from '../platform/cli/cli.ts';
import { recordAudit } from '../platform/database/audit-trail.ts';
import { systemClock } from '../platform/host/clock.ts';
import { openDataDirectory } from '../platform/host/data-directory.ts';
import { requireDatabase } from '../platform/host/database-file.ts';
import type { Finding } from '../platform/host/health-check.ts';
import { silentLogger } from '../platform/host/logger.ts';
import { readServerNote, touchWakeFile } from '../platform/host/server-note.ts';
import type { ManagementCaller } from '../platform/http/callers.ts';
import { createApp, createServices, httpDepsOf, type Services } from './app.ts';
import { doctorDeps } from './checks.ts';
import { createRoutes, routesForTools } from './routes.ts';

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
      services.sender.stop();
      services.report_reader.stop();
      services.beside.stop();
      if (database.hasWritten()) touchWakeFile(config.data_dir, clock.now());
      await directory.close();
    },
  };
}

/** For `satchel mcp`: everything is asked as by HTTP, by this caller. */
export async function openForTools(config: Config, caller: ManagementCaller): Promise<Opened> {
  const { services, close } = await openServices(config);
  const doctor = new Doctor({ clock: systemClock, examine: () => examineHere(config) });
  return {
    tools: createTools(routesForTools(createRoutes({ ...services, doctor }), services)),
    deps: { ...httpDepsOf(services), authenticateToken: () => caller },
    close,
  };
}

/** What the running server finds, which alone may have all settings; without one, what is found here. */
async function examineHere(config: Config): Promise<Finding[]> {
  const note = readServerNote(config.data_dir);
  return note?.findings_key ? askServer(note, { is_deep: false }) : examine(config, doctorDeps(systemClock));
}

/** Reads it from an app that serves nothing, on a data directory that is gone afterwards. */
export async function describeApi(): Promise<ApiDocument> {
  const data_dir = await mkdtemp(join(tmpdir(), 'satchel-api-'));
  try {
    const config = loadConfig({ SATCHEL_DATA_DIR: data_dir });
    const directory = await openDataDirectory(config, { clock: systemClock });
    const { handle, services } = createApp(config, {
      ...directory,
      clock: systemClock,
      logger: silentLogger,
    });
    const response = await handle(new Request('http://localhost/docs/openapi.json'));
    const document: ApiDocument = JSON.parse(await response.text());
    await services.mailer.stop(0);
    services.report_reader.stop();
    services.beside.stop();
    await directory.close();
    return document;
  } finally {
    await rm(data_dir, { recursive: true });
  }
}
