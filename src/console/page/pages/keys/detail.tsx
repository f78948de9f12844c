/** One key: what it is, its origins, and changing, rotating, switching and deleting it. */
import { useState } from 'preact/hooks';
import type { ApiKey } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { ConfirmByName } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { counted } from '../../components/quantity.tsx';
import { SecretOnce } from '../../components/secret-once.tsx';
import { Status } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { permissionsOf } from './abilities.ts';
import { KeyFields } from './key-fields.tsx';
import { Origins } from './origins.tsx';

interface KeyPath {
  project: string;
  apiKey: string;
}

export default function KeyPage({ params }: PageProps<'project' | 'key'>) {
  const path = { project: params.project, apiKey: params.key };
  const load = useLoad('GET /projects/{project}/api-keys/{apiKey}', { path });
  const key = load.data;
  return (
    <>
      <PageHeader
        title={key?.name ?? 'Key'}
        back={{ href: hrefOf(to`/projects/${params.project}/keys`), label: 'Keys' }}
        beside={key && <Status of={key.is_active ? 'active' : 'inactive'} />}
        lead={key && <code>{key.key_prefix}…</code>}
      />
      <Loaded load={load}>
        {(loaded) => (
          <div class="stack">
            <Origins path={path} of={loaded} onChange={load.reload} />
            <Change path={path} of={loaded} onChange={load.reload} />
            <Secret path={path} of={loaded} onChange={load.reload} />
            <Danger path={path} of={loaded} />
          </div>
        )}
      </Loaded>
    </>
  );
}

interface PartProps {
  path: KeyPath;
  of: ApiKey;
  onChange(): void;
}

function Change({ path, of, onChange }: PartProps) {
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/api-keys/{apiKey}', {
      path,
      body: {
        name: entered.text('name'),
        ...permissionsOf(entered.all('can'), of.permissions),
        restricted: entered.flag('restricted'),
        allow_no_origin: entered.flag('allow_no_origin'),
        rate_limit_per_minute: entered.numberOrNull('rate_limit_per_minute'),
        email_daily_limit: entered.numberOrNull('email_daily_limit'),
      },
    });
    toast('The changes are saved and hold from the next request');
    onChange();
  };
  return (
    <Panel title="What the key may do">
      <Form submit="Save the changes" onSubmit={change}>
        <KeyFields of={of} />
      </Form>
    </Panel>
  );
}

function Secret({ path, of, onChange }: PartProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async (): Promise<void> => {
    const { plaintext_key } = await call('POST /projects/{project}/api-keys/{apiKey}/rotate', { path });
    setSecret(plaintext_key);
    onChange();
  };
  const turn = async (): Promise<void> => {
    await call('PATCH /projects/{project}/api-keys/{apiKey}', { path, body: { is_active: !of.is_active } });
    onChange();
  };
  return (
    <Panel
      title="Secret"
      lead="Rotating gives the key a new secret: the old one stops at once. Deactivating refuses it until it is activated again."
    >
      <div class="stack">
        {secret && (
          <SecretOnce secret={secret}>
            The new secret. Copy it into the environment of the app now.
          </SecretOnce>
        )}
        <div class="row">
          <ConfirmByName title="Rotate the key" name={of.name} act={rotate}>
            <p>Apps that use the old secret are refused until they have the new one.</p>
          </ConfirmByName>
          <ActionButton
            act={turn}
            done={of.is_active ? 'The key is refused from now on' : 'The key is accepted again'}
          >
            {of.is_active ? 'Deactivate' : 'Activate'}
          </ActionButton>
        </div>
      </div>
    </Panel>
  );
}

function Danger({ path, of }: Omit<PartProps, 'onChange'>) {
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/api-keys/{apiKey}', { path });
    toast(`Key ${of.name} is deleted`);
    navigate(to`/projects/${path.project}/keys`, { replace: true });
  };
  return (
    <Panel title="Delete the key" tone="danger" lead="Files and mails that were made with it stay.">
      <ConfirmByName title="Delete the key" name={of.name} act={remove}>
        <p>
          With it go {counted(of.origins_count, 'origin')}. Apps that use it are refused at once, and it
          cannot be brought back.
        </p>
      </ConfirmByName>
    </Panel>
  );
}
