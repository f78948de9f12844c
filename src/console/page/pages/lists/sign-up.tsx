/** Where people sign up for a list and read what was sent to it, and the form of one's own for signing up: `satchel list show` prints it too. */
import type { ContactList } from '../../api.generated.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Empty, Panel } from '../../components/page.tsx';
import { hrefOf, to } from '../../router.ts';

export function SignUp({ project, list }: { project: string; list: ContactList }) {
  return (
    <>
      <SignUpHere project={project} list={list} />
      {list.archive_url && !list.archived && (
        <Panel title="Archive" lead="Anybody may read there what was sent to all of the list.">
          <Out url={list.archive_url} />
        </Panel>
      )}
    </>
  );
}

function SignUpHere({ project, list }: { project: string; list: ContactList }) {
  const settings = `${hrefOf(to`/projects/${project}/lists/${list.id}`)}?tab=settings`;
  if (list.sign_up_url && !list.archived) return <SignUpPage url={list.sign_up_url} />;
  return (
    <div class="panel">
      <Empty title={list.archived ? 'Nobody can sign up for an archived list' : 'It has no sign-up page'}>
        <p>A page where anybody may sign up, and a form for a page of your own that does the same.</p>
        <ButtonLink href={settings}>
          {list.archived ? 'Restore the list' : 'Switch it on in the settings'}
        </ButtonLink>
      </Empty>
    </div>
  );
}

const Out = ({ url }: { url: string }) => (
  <p>
    <a href={url} target="_blank" rel="noreferrer">
      {url}
    </a>
  </p>
);

function SignUpPage({ url }: { url: string }) {
  const form = formOf(url);
  return (
    <Panel title="Sign-up page" lead="Anybody may sign up there, and confirms by a mail.">
      <Out url={url} />
      <p class="field-label">
        A form for a page of your own <CopyButton text={form} label="Copy the form" />
      </p>
      <pre class="mail-text">{form}</pre>
      <p class="muted fine">
        It needs no key and no script. Where the vault holds a captcha secret, put the captcha's widget into
        it.
      </p>
    </Panel>
  );
}

function formOf(url: string): string {
  const action = url.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return `<form method="post" action="${action}">
  <label>Email <input type="email" name="email" required maxlength="254" autocomplete="email"></label>
  <label>First name <input name="first_name" maxlength="64" autocomplete="given-name"></label>
  <label aria-hidden="true" style="position:absolute;left:-9999px">Leave this empty <input name="comment" tabindex="-1" autocomplete="off"></label>
  <button>Sign up</button>
</form>`;
}
