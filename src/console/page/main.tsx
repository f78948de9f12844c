/**
 * The console in the browser. How a page is made:
 *
 * - It is one file, pages/<area>/<page>.tsx, whose default export is a component; pages.ts names its path, its title and its
 *   place in the navigation, and loads it with those that its part (pages/marketing.ts) names, when one of them is first
 *   opened. `params` has the path's own names, typed.
 * - It reads with `useLoad('GET /projects/{project}', { path })`, a list with `useList`, whose page and filters stand in the
 *   address; `<Loaded>` shows the waiting, and what the API said where it refused. It changes things with `call('PATCH ...')`.
 *   Endpoints, inputs and answers are typed by api.generated.ts, which scripts/console-types.ts writes off the OpenAPI document.
 * - Whoever changes what was read says which version that was: `<Form version={load.etag}>`, then `if_match: entered.version`.
 * - A change made by a form is a `<Form>`, whose fields are said once, in a list (components/fields.tsx): `<Fields>` shows it,
 *   `entered.read` makes a body of it. What `call` throws in its `onSubmit` stands beside the fields that it names. One
 *   made by a button is `<ActionButton>`. What destroys asks with `<ConfirmByName>`, which says what goes along; what
 *   many would notice waits for `askFirst`, which says how many.
 *   What is typed into a form and not saved is not left unasked (components/ask-first.tsx); `is_fleeting` says that it is no matter.
 * - Components are in components/, without data of their own; colours and distances are variables of style.css.
 *   No `style` attribute as text, no inline script, no HTML from strings: the policy of the page refuses them.
 * - Time comes from time.ts, which corrects a browser's wrong clock; hours are shown by `<Time>`.
 * - A test opens each page of pages.ts in a real browser (test/console/pages.test.ts) with sample data; scripts/screenshots
 *   takes its picture. Both take the addresses from test/console/sample-pages.ts: add the page there.
 */
import { render } from 'preact';
import { App } from './app.tsx';
import { isUnsaved, mayLeave } from './components/ask-first.tsx';
import { startRouter } from './router.ts';
import { person } from './session.ts';
import { applyTheme } from './theme.ts';

applyTheme();
// The server says so, so that nobody waits for a question to it before they can type.
if (document.querySelector('meta[name="satchel-nobody-signed-in"]')) person.value = null;
startRouter({ isUnsaved, mayLeave });
const root = document.getElementById('console');
if (root) render(<App />, root);
