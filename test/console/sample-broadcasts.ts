/** Broadcasts of the project that runs sequences: one that is out with its numbers, one that its bounces have paused, and plans. */
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor, type TestApp } from '../support/helpers.ts';
import type { SequencesSample } from './sample-sequences.ts';

export interface BroadcastsSample {
  sent_broadcast: string;
  paused_broadcast: string;
  scheduled_broadcast: string;
  /** It lacks its mail. */
  draft_broadcast: string;
  hostile_broadcast: string;
}

const HOUR_MS = 3_600_000;
const AGO_MS = 96 * HOUR_MS;
const READ_AFTER_HOURS = [0, 0, 0, 0, 1, 1, 1, 2, 2, 5, 20, 26, 60, 90];
const BODY = `# What is new in June, {{ first_name }}

Three balconies that our readers made, and [how they did it](https://magazine.example.com/balconies).

[Read all of it](https://magazine.example.com/june)
`;

/** Adds them to the project and list of the sequences. */
export async function addBroadcasts(
  app: TestApp,
  { magazine, running }: Pick<SequencesSample, 'magazine' | 'running'>,
  hostile: string,
): Promise<BroadcastsSample> {
  const { broadcasts, broadcast_life, database, projects, sequences, templates } = app.services;
  const project = projects.require(magazine);
  const { list } = sequences.get(project.id, running);
  const { slug } = await templates.create(
    project.id,
    {
      ...{ name: 'June news', subject: 'What is new in June, {{ first_name }}', body_markdown: BODY },
      ...{ category: 'marketing', is_marketing: true, layout: 'marketing' },
    },
    noNote,
  );
  const create = async (name: string, fields: Record<string, unknown> = {}): Promise<string> =>
    (await broadcasts.create(project.id, { name, list, template: slug, ...fields }, noNote)).id;
  const send = async (id: string): Promise<void> => {
    await broadcast_life.send(actor, project, id, { is_test: false });
    app.app.engine.wake();
    await app.app.engine.whenIdle();
  };
  const sent_broadcast = await create('June news', { track_opens: true });
  await send(sent_broadcast);
  await backdate(app, sent_broadcast);
  const paused_broadcast = await create('Old readers', { filter: { tags_any: ['balcony'] } });
  await send(paused_broadcast);
  await database.write((tx) => {
    tx.$client.run(
      `UPDATE broadcasts SET status = 'paused', pause_reason = 'bounce_threshold', finished_at = NULL WHERE public_id = ?`,
      [paused_broadcast],
    );
  });
  const scheduled_broadcast = await create('July news', {
    filter: { tags_none: ['balcony'], custom: { plan: 'pro' }, clicked_within_days: 90 },
  });
  await database.write((tx) => {
    tx.$client.run(`UPDATE broadcasts SET status = 'scheduled', send_at = ? WHERE public_id = ?`, [
      app.clock.at_ms + 50 * HOUR_MS,
      scheduled_broadcast,
    ]);
  });
  return {
    ...{ sent_broadcast, paused_broadcast, scheduled_broadcast },
    draft_broadcast: await create('August news', { template: null }),
    hostile_broadcast: await create(hostile, {
      ...{ variables: { [hostile]: hostile }, filter: { q: hostile, custom: { [hostile]: hostile } } },
    }),
  };
}

/** As if it had gone out days ago, and had been read since: most of it in the first hours. Triggers count what is noted. */
async function backdate(app: TestApp, broadcast: string): Promise<void> {
  await app.services.database.write((tx) => {
    const { $client } = tx;
    const row = $client
      .query<{ id: number; started_at: number }, [string]>(
        `UPDATE broadcasts SET started_at = started_at - ${AGO_MS}, finished_at = finished_at - ${AGO_MS}
         WHERE public_id = ? RETURNING id, started_at`,
      )
      .get(broadcast);
    if (!row) throw new Error('no such broadcast');
    $client.run(`UPDATE broadcast_hours SET hour = hour - ${AGO_MS / HOUR_MS} WHERE broadcast_id = ?`, [
      row.id,
    ]);
    for (const [index, hours] of READ_AFTER_HOURS.entries())
      $client.run(
        `UPDATE broadcast_recipients SET opened_at = ?1, clicked_at = iif(?2 % 2 = 0, ?1, NULL)
         WHERE broadcast_id = ?3 AND sent_at IS NOT NULL AND contact_id % 24 = ?2`,
        [row.started_at + hours * HOUR_MS, index, row.id],
      );
    $client.run(
      `UPDATE broadcast_recipients SET bounced_at = sent_at, unsubscribed_at = sent_at
       WHERE broadcast_id = ? AND contact_id % 24 = 23`,
      [row.id],
    );
    $client.run(
      'INSERT INTO broadcast_links (broadcast_id, position, people, clicks) VALUES (?1, 1, 9, 14), (?1, 2, 6, 7)',
      [row.id],
    );
  });
}
