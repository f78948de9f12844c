/** Making a key: with what it may do and where from. Its secret is shown this once. */
import { useState } from 'preact/hooks';
import type { ApiKeyWithSecret } from '../../api.generated.ts';
import { ApiError, call } from '../../api.ts';
import { askAboutName } from '../../components/ask-first.tsx';
import { ButtonLink } from '../../components/button-link.tsx';
import { Command } from '../../components/copy-button.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { SecretOnce } from '../../components/masked-secret.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { callAll } from '../../use-load.ts';
import { abilitiesOf, permissionsOf } from './abilities.ts';
import { askAboutOrigins, KeyFields, LIMITS, NAME, ORIGINS, TEST } from './key-fields.tsx';
import { curlThatTries } from './key-secret.tsx';
import { tellOfOrigin } from './origin-fields.tsx';

export default function NewKeyPage({ params }: PageProps<'project'>) {
  const [made, setMade] = useState<ApiKeyWithSecret | null>(null);
  const try_line = made && curlThatTries(made);
  const list = to`/projects/${params.project}/keys`;
  const create = async (entered: Entered): Promise<void> => {
    const origins = await checkedOrigins(entered);
    const keys = await callAll('GET /projects/{project}/api-keys', { path: params });
    await askAboutName(
      'key',
      entered.text('name'),
      keys.filter(({ is_active }) => is_active),
    );
    const restricted = entered.flag('restricted');
    const allow_no_origin = entered.flag('allow_no_origin');
    const is_for_pages = ['page', 'form'].includes(entered.text('preset'));
    await askAboutOrigins({
      restricted,
      allow_no_origin,
      origins: origins.length,
      is_for_pages,
      act: 'Create',
    });
    const key = await call('POST /projects/{project}/api-keys', {
      path: params,
      body: {
        ...entered.given({ ...NAME, ...TEST, ...LIMITS }),
        ...permissionsOf(entered.all('can')),
        restricted,
        allow_no_origin,
      },
    });
    for (const value of origins) {
      const path = { ...params, apiKey: key.id };
      await call('POST /projects/{project}/api-keys/{apiKey}/origins', {
        path,
        body: { type: 'domain', value },
      }).then(
        () => tellOfOrigin(value),
        (error: Error) => toast(`${value} is not added: ${error.message}`, 'bad'),
      );
    }
    setMade(key);
  };
  return (
    <>
      <PageHeader
        title={made ? `Key ${made.name}` : 'New key'}
        back={{ href: hrefOf(list), label: 'Keys' }}
      />
      <Panel>
        {made ? (
          <div class="stack">
            <SecretOnce secret={made.plaintext_key}>
              The key is made. Copy it into the environment of the app now; whoever reads it can do what it
              may do.
            </SecretOnce>
            {try_line !== null && (
              <div class="stack-small">
                <p>Try it in a shell:</p>
                <Command of={try_line} />
              </div>
            )}
            {abilitiesOf(made).length === 0 && (
              <p class="notice warn">It may do nothing yet: say what it is for on its page.</p>
            )}
            <div>
              <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/keys/${made.id}`)}>
                To the key
              </ButtonLink>
            </div>
          </div>
        ) : (
          <Form submit="Create the key" onSubmit={create} onCancel={() => navigate(list)}>
            <KeyFields />
          </Form>
        )}
      </Panel>
    </>
  );
}

/** Those that were entered, each once, before anything is made. Throws ApiError that says which of them is none. */
async function checkedOrigins(entered: Entered): Promise<string[]> {
  const origins = entered.read(ORIGINS).origins.map((value) => ({ type: 'domain' as const, value }));
  if (origins.length === 0) return [];
  const verdicts = await call('POST /global-origins/check', { body: { origins } });
  const errors = verdicts.flatMap(({ reason }, index) =>
    reason ? [[`origins.${index}.value`, [reason.message]] as const] : [],
  );
  if (errors.length > 0) {
    const body = { message: 'Not every origin is one.', errors: Object.fromEntries(errors) };
    throw new ApiError(422, body);
  }
  return [...new Set(verdicts.map(({ canonical_value, value }) => canonical_value ?? value))];
}
