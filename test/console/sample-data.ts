/** A Satchel as one looks after a few weeks, with hostile strings where people could have put them. */
import { actor, addCapturingMailbox, makeProject, type TestApp } from '../helpers.ts';

/** What must be shown as the text it is. */
export const HOSTILE = '<img src=x onerror="document.title=\'pwned\'"><script>alert(1)</script>';

export interface Sample {
  project: string;
  key: string;
}

export async function addSampleData(app: TestApp): Promise<Sample> {
  const { projects, keys, origins } = app.services;
  const shop = await makeProject(app, 'shop');
  await projects.update(actor, projects.require('shop'), {
    ...{ name: 'Corner shop', description: 'What the shop sells, and to whom.', platforms: ['web', 'ios'] },
    primary_url: 'https://shop.example.com/',
  });
  await makeProject(app, 'bakery');
  await projects.create(actor, { name: HOSTILE, slug: 'hostile', description: HOSTILE, status: 'inactive' });
  const row = projects.require('shop');
  const key = await keys.create(actor, row, {
    ...{ name: 'web shop', can_read: true, can_write: true, can_send_emails: true, restricted: true },
    permissions: { email_template: true },
  });
  await keys.create(actor, row, { name: 'page', restricted: true, permissions: { upload: true } });
  await keys.create(actor, row, { name: HOSTILE, can_read: true, is_test: true });
  for (const value of ['https://shop.example.com', 'https://*.preview.example.com'])
    await origins.add(actor, keys.require(String(key.id)), { type: 'domain', value });
  await addCapturingMailbox(app);
  return { project: shop.slug, key: String(key.id) };
}
