/** Segments in the console: built from what there is on the list, kept, looked at, and chosen for a broadcast and for enrolling. */
import { describe, expect, test } from 'bun:test';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  openSignedIn,
  settle,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;
beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, `/projects/shop${path}`);

describe.skipIf(executable === null)('a segment', () => {
  test('is built from the tags, fields and events that there are, with the number and names of who fits', async () => {
    const { page, complaints } = await open(`/segments/new?list=${sample.list}`);
    await page.getByLabel('Name', { exact: true }).fill('Important people');
    const tags = page.locator('.facet-field').filter({ hasText: 'With at least one of these tags' });
    await tags.getByRole('button', { name: /^vip/ }).click();
    await page.getByText('1 person of the list').waitFor();
    await page.getByRole('list', { name: 'Some of them' }).getByText('ann@example.org').waitFor();
    await tags.getByRole('button', { name: /^spring/ }).click();
    await page.getByText('37 people of the list').waitFor();
    await page.getByLabel('With none of these tags').fill('sprong');
    await page.getByText('Nobody on the list is tagged “sprong”.').waitFor();
    await page.getByLabel('With none of these tags').fill('');
    await page.getByLabel('With this event', { exact: true }).fill('ordered');
    await page.getByText('0 people of the list').waitFor();
    await page.getByLabel('With this event', { exact: true }).fill('');
    await page.getByText('37 people of the list').waitFor();
    await settle(page);
    await expectSound({ page, complaints });
    await page.getByRole('button', { name: 'Keep the segment' }).click();
    await page.getByRole('heading', { name: 'Important people', level: 1 }).waitFor();
    const { data } = on.app.services.segments.list(on.app.services.projects.require('shop').id, {});
    expect(data[0]).toMatchObject({ name: 'Important people', filter: { tags_any: ['vip', 'spring'] } });

    await page.getByRole('link', { name: 'See who is in it' }).click();
    await page.getByText('1–25 of 37').waitFor();
    expect(await page.getByLabel('Segment', { exact: true }).inputValue()).toBe(data[0]?.id ?? '');
  });

  test('is kept out of a broadcast that is being written, goes with it, and is gone once it is deleted', async () => {
    const { page } = await open('/broadcasts/new');
    await page.getByLabel('Name', { exact: true }).fill('To a few');
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Newsletter' });
    await page.getByText('Only some of the list').click();
    await page.getByLabel('With all of these tags').fill('customer');
    await page.getByText('1 person of the list').waitFor();
    await page.getByLabel('Keep it as a segment').fill('Customers');
    await page.getByRole('button', { name: 'Keep it', exact: true }).click();
    await page.getByText('Those tagged “customer”.').waitFor();
    await page.getByRole('button', { name: 'Write the mail' }).click();
    await page.getByRole('heading', { name: 'To a few', level: 1 }).waitFor();
    const { segments, broadcasts, projects } = on.app.services;
    const { id } = projects.require('shop');
    const [kept] = segments.list(id, {}).data;
    const [written] = broadcasts.list(id, {}).data;
    expect([kept?.name, written?.name, written?.segment]).toEqual(['Customers', 'To a few', kept?.id]);

    await page.goto(`${on.app.url}/console/projects/shop/segments/${kept?.id}`);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
    await page.getByRole('heading', { name: 'Segments', level: 1 }).waitFor();
    expect(broadcasts.get(id, written?.id ?? '')).toMatchObject({
      segment: null,
      filter: { tags_all: ['customer'] },
    });
  });
});
