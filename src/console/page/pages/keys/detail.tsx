/** One key, in three parts: where it may be used from, what it may do, and its secret and end. */

import { useState } from 'preact/hooks';
import type { ApiKey, KeyVerdict } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Fields, optional } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, Notice, PageHeader, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { KeyPermissions } from './key-permissions.tsx';
import { KeySecret } from './key-secret.tsx';
import { KeySmtp } from './key-smtp.tsx';
import { Origins } from './origins.tsx';

const TABS = { origins: 'Origins', permissions: 'What it is for', secret: 'Secret and deletion' } as const;

export default function KeyPage({ params }: PageProps<'project' | 'key'>) {
  const path = { project: params.project, apiKey: params.key };
  const load = useLoad('GET /projects/{project}/api-keys/{apiKey}', { path }, { looks_again: true });
  const tab = useTab(['origins', 'permissions', 'secret']);
  const key = load.data;
  return (
    <>
      <PageHeader
        title={key?.name ?? 'Key'}
        back={{ href: hrefOf(to`/projects/${params.project}/keys`), label: 'Keys' }}
        beside={key && <Status of={key.is_active ? 'active' : 'inactive'} />}
        lead={
          key && (
            <>
              {key.purpose}. {key.last_used_at === null ? 'Never used' : 'Last used '}
              {key.last_used_at !== null && <Time at={key.last_used_at} />}.
            </>
          )
        }
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(of) => {
          const part = { path, of, etag: load.etag, onChange: load.reload };
          return (
            <div class="stack">
              {tab === 'origins' && <Origins {...part} />}
              {tab === 'origins' && <Why path={path} />}
              {tab === 'permissions' && <KeyPermissions {...part} />}
              {tab === 'secret' && <KeySecret {...part} />}
              {tab === 'secret' && of.can_send_emails && <KeySmtp {...part} />}
              {tab === 'secret' && <KeyEnd {...part} />}
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** Deleting a key. */
function KeyEnd({ path, of }: KeyPartProps) {
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/api-keys/{apiKey}', { path });
    toast(`Key ${of.name} is deleted`);
    navigate(to`/projects/${path.project}/keys`, { replace: true });
  };
  return (
    <Ending
      title="Delete the key"
      lead="Files and mails that were made with it stay."
      name={of.name}
      act={remove}
    >
      {of.origins_count > 0 && `With it go ${counted(of.origins_count, 'origin')}. `}
      Apps that use it are refused at once, and it cannot be brought back.
    </Ending>
  );
}

/** The props of each part of a key's page. */
export interface KeyPartProps {
  path: { project: string; apiKey: string };
  of: ApiKey;
  /** The version that was read. */
  etag: string | null;
  /** The key is another one now: it is to be loaded again. */
  onChange(): void;
}

const FIELDS = {
  origin: optional('Origin of a web page', { placeholder: 'https://shop.example.com', is_mono: true }),
  app_id: optional('Id of an app', { placeholder: 'com.example.shop', is_mono: true }),
  cert_fingerprint: optional('Certificate of the app', {
    hint: 'The fingerprint that it sends in X-Android-Cert, where a rule asks for one.',
    is_mono: true,
  }),
};

export function Why({ path }: Pick<KeyPartProps, 'path'>) {
  const [verdict, setVerdict] = useState<KeyVerdict | null>(null);
  const ask = async (entered: Entered): Promise<void> => {
    setVerdict(null);
    const body = entered.read(FIELDS);
    setVerdict(await call('POST /projects/{project}/api-keys/{apiKey}/why', { path, body }));
  };
  return (
    <Panel
      title="Would it be accepted?"
      lead="Try where a request comes from. With every field empty it comes from a server, which sends no origin."
    >
      <div class="stack">
        <Form is_fleeting is_for_readers submit="Try it" onSubmit={ask}>
          <Fields fields={FIELDS} />
        </Form>
        {verdict && (
          <Notice tone={verdict.accepted ? 'good' : 'bad'} role="status">
            <strong>{verdict.accepted ? 'Accepted.' : 'Refused.'}</strong> {verdict.why}
          </Notice>
        )}
      </div>
    </Panel>
  );
}
