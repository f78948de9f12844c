/** Segments in the console: built from what there is on the list, kept, looked at, and chosen for a broadcast and for enrolling. */
import { describe, expect, test } from 'bun:test';
import { until } from '../support/until.ts';
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
    const row = (title: string) => page.getByRole('group', { name: title, exact: true });
    await row('Condition 1').getByRole('button', { name: /^vip/ }).click();
    await page.getByText('1 person of the list').waitFor();
    await page.getByRole('list', { name: 'Some of them' }).getByText('ann@example.org').waitFor();
    await row('Condition 1')
      .getByRole('button', { name: /^spring/ })
      .click();
    await page.getByText('Those who have the tags “vip” or “spring”. 37 people of the list').waitFor();
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await until(async () => (await page.evaluate('document.activeElement.ariaLabel')) === 'What');
    // Its only row of this kind is there already.
    expect(await row('Condition 2').getByLabel('How').inputValue()).toBe('tags_all');
    await row('Condition 2').getByLabel('How').selectOption('is none of');
    await row('Condition 2').getByLabel('Tags').fill('sprong');
    await page.getByText('Nobody on the list is tagged “sprong”.').waitFor();
    await row('Condition 2').getByLabel('What').selectOption('Event');
    expect(await row('Condition 2').getByLabel('Event').inputValue()).toBe('');
    await row('Condition 2').getByLabel('Event').fill('ordered');
    await row('Condition 2').getByLabel('Within days').fill('9');
    await page.getByText('0 people of the list').waitFor();
    await row('Condition 2').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('37 people of the list').waitFor();
    await page.getByRole('button', { name: 'Add “none of”' }).click();
    const none = page.getByRole('group', { name: 'And none of these' });
    await none.getByLabel('What').selectOption('Address or name');
    await none.getByLabel('Value').fill('ann@');
    await page
      .getByText('“spring”, but not those who have an address or a name that begins with “ann@”.')
      .waitFor();
    await page.getByText('36 people of the list').waitFor();
    await page.getByRole('button', { name: 'Add “at least one of”' }).click();
    const some = page.getByRole('group', { name: 'And at least one of these' });
    await some.getByLabel('Tags').fill('spring');
    // One alone stands above, where its kind has no row yet: here it has one.
    await page.locator('p.wrong[role=status]').waitFor();
    await some.getByRole('button', { name: 'Add another' }).click();
    await some
      .getByRole('group', { name: 'at least one of these, 2: 1' })
      .getByLabel('What')
      .selectOption('Domain');
    await some.getByLabel('Value').fill('example.org');
    await some
      .getByRole('group', { name: 'at least one of these, 2: 1' })
      .locator('..')
      .getByRole('button', { name: 'And' })
      .click();
    await some.getByRole('group', { name: 'at least one of these, 2: 2' }).getByLabel('Tags').fill('vip');
    await page
      .getByText('and who have the tag “spring” or (have the tag “vip” and have an address at example.org)')
      .waitFor();
    await settle(page);
    await expectSound({ page, complaints: complaints.filter((told) => !told.includes('422')) });
    await page.getByRole('button', { name: 'Keep the segment' }).click();
    await page.getByRole('heading', { name: 'Important people', level: 1 }).waitFor();
    const { data } = on.app.services.segments.list(on.app.services.projects.require('shop').id, {});
    const filter = {
      tags_any: ['vip', 'spring'],
      any: [{ tags_any: ['spring'] }, { tags_any: ['vip'], domains: ['example.org'] }],
      none: [{ q: 'ann@' }],
    };
    expect(data[0]).toMatchObject({ name: 'Important people', filter });
    // What was kept is read as it was built.
    await page.reload();
    await page.getByText('36 people of the list').waitFor();
    expect(await some.getByRole('group', { name: 'at least one of these, 2: 2' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Save the segment' }).click();
    await page.getByText('The segment is saved').waitFor();
    expect(
      on.app.services.segments.get(on.app.services.projects.require('shop').id, data[0]?.id ?? '').filter,
    ).toEqual(filter);

    await page.getByRole('link', { name: 'See who is in it' }).click();
    await page.getByText('1–25 of 36').waitFor();
    expect(await page.getByLabel('Segment', { exact: true }).inputValue()).toBe(data[0]?.id ?? '');
  });

  test('is kept out of a broadcast that is being written, goes with it, and is gone once it is deleted', async () => {
    const { page } = await open('/broadcasts/new');
    await page.getByLabel('Name', { exact: true }).fill('To a few');
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Newsletter' });
    await page.getByText('Only some of the list').click();
    await page.getByLabel('How').selectOption('is each of');
    await page.getByLabel('Tags').fill('customer');
    await page.getByText('1 person of the list').waitFor();
    await page.getByLabel('Keep it as a segment').fill('Customers');
    await page.getByRole('button', { name: 'Keep it', exact: true }).click();
    await page.getByText('Those who have the tag “customer”.').first().waitFor();
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
