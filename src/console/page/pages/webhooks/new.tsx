/** Adding a webhook. Its secret is shown this once. */
import type { WebhookWithSecret } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ButtonLink } from '../../components/button-link.tsx';
import { Fields } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { SecretOnce } from '../../components/masked-secret.tsx';
import { PageHeader, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useRevealed } from '../../use-revealed.ts';
import { nameOf, WEBHOOK_FIELDS } from './webhook-fields.tsx';

export default function NewWebhookPage({ params }: PageProps<'project'>) {
  const all = to`/projects/${params.project}/webhooks`;
  const { shown: made, show } = useRevealed<WebhookWithSecret>(null);
  const create = async (entered: Entered): Promise<void> => {
    const body = entered.given(WEBHOOK_FIELDS);
    show(await call('POST /projects/{project}/webhooks', { path: params, body }));
  };
  return (
    <>
      <PageHeader
        title={made ? `Webhook to ${nameOf(made)}` : 'Add a webhook'}
        back={{ href: hrefOf(all), label: 'Webhooks' }}
      />
      <Panel>
        {made ? (
          <div class="stack">
            <SecretOnce secret={made.secret}>
              The webhook is added, and its secret shown this once. Give it to the receiver now, which checks
              signatures with it.
            </SecretOnce>
            <div>
              <ButtonLink kind="primary" href={hrefOf(to`/projects/${params.project}/webhooks/${made.id}`)}>
                Go on to test it
              </ButtonLink>
            </div>
          </div>
        ) : (
          <Form is_wide submit="Add the webhook" onSubmit={create} onCancel={() => navigate(all)}>
            <Fields fields={WEBHOOK_FIELDS} is_focused />
          </Form>
        )}
      </Panel>
    </>
  );
}
