/** The OpenAPI document of this Satchel, for what is written off it where no server runs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../config.ts';
import type { ApiDocument } from '../operation/client/document.ts';
import { systemClock } from '../platform/host/clock.ts';
import { openDataDirectory } from '../platform/host/data-directory.ts';
import { silentLogger } from '../platform/host/logger.ts';
import { createApp } from './app.ts';

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
