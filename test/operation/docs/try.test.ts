/** Requests to try in the page, in a real browser. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openChromium } from '../../support/chromium.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';

setDefaultTimeout(60_000);

describe('requests to try', () => {
  test('are a page with a policy of its own, which no other page loads', async () => {
    const app = await startTestApp();
    const page = await app.call('GET', '/docs/try');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'");
    for (const path of ['/docs', '/docs/guide/start', '/docs/docs.js'])
      expect((await app.call('GET', path)).text).not.toContain('swagger-ui');
    const script = await app.call('GET', '/docs/try/swagger-ui.js', {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    expect([script.status, script.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(script.headers.get('cache-control')).toContain('immutable');
  });

  test.skipIf(part('chromium') === null)(
    'are sent to this server alone, with the key typed there',
    async () => {
      const app = await startTestApp();
      const project = await makeProject(app);
      const key = await project.key({ can_read: true });
      const context = await (await openChromium()).newContext();
      const page = await context.newPage();
      const asked: string[] = [];
      const troubles: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      page.on('pageerror', (error) => troubles.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') troubles.push(message.text());
      });
      await page.goto(`${app.url}/docs/try`);
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      const dialog = page.locator('.auth-container', { hasText: 'X-API-Key' });
      await dialog.locator('input').fill(key);
      await dialog.getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.modal-ux .btn-done').first().click();
      await page.locator('.opblock-tag', { hasText: 'Objects' }).first().click();
      const operation = page
        .locator('.opblock-get', { has: page.locator('[data-path="/api/v1/objects"]') })
        .first();
      await operation.locator('.opblock-summary-control').click();
      await operation.getByRole('button', { name: 'Execute' }).click();
      const answer = operation.locator('.live-responses-table .response .response-col_status').first();
      await answer.filter({ hasText: '200' }).waitFor();
      expect(asked.filter((url) => !url.startsWith(app.url) && !url.startsWith('data:'))).toEqual([]);
      expect(troubles).toEqual([]);
      // Neither the browser nor the next visit knows the key.
      const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      expect(kept).toBe('[{},{}]');
      expect(app.logs()).not.toContain(key);
    },
  );
});
