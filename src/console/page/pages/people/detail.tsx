/** One person, in two parts: who they are and what they may do; and what lets them in. */
import type { Person } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf } from '../../router.ts';
import { loadSession, person } from '../../session.ts';
import { useLoad } from '../../use-load.ts';
import { Access } from './access.tsx';
import { PowerFields, powersIn } from './power-fields.tsx';

const TABS = { may: 'What they may do', access: 'Signing in' } as const;

export default function PersonPage({ params }: PageProps<'person'>) {
  const load = useLoad('GET /people/{person}', { path: params });
  const tab = useTab(['may', 'access']);
  const of = load.data;
  const changed = (): void => {
    load.reload();
    // What whoever looks may do themselves, may be another thing now.
    if (of?.id === person.value?.id) void loadSession();
  };
  return (
    <>
      <PageHeader
        title={of?.name ?? 'Person'}
        back={{ href: hrefOf('/people'), label: 'People' }}
        beside={
          of && (
            <span class="badges">
              <Status of={of.is_active ? 'active' : 'inactive'} />
              {of.id === person.value?.id && <Badge tone="accent">you</Badge>}
            </span>
          )
        }
        lead={of?.email}
      />
      <Tabs tabs={TABS} now={tab} />
      <Loaded load={load}>
        {(each) =>
          tab === 'may' ? (
            <Change of={each} etag={load.etag} onChange={changed} />
          ) : (
            <Access of={each} etag={load.etag} onChange={changed} />
          )
        }
      </Loaded>
    </>
  );
}

function Change({ of, etag, onChange }: { of: Person; etag: string | null; onChange(): void }) {
  const change = async (entered: Entered): Promise<void> => {
    const email = entered.text('email');
    const name = entered.text('name');
    await call('PATCH /people/{person}', {
      path: { person: of.id },
      if_match: entered.version,
      body: {
        ...(email !== of.email && { email }),
        ...(name !== of.name && { name: name || null }),
        ...powersIn(entered, of),
      },
    });
    toast('The changes are saved and hold from their next request');
    onChange();
  };
  return (
    <Panel>
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <TextField name="email" label="Address" type="email" value={of.email} hint="They sign in with it." />
        <TextField
          name="name"
          label="Name"
          value={of.name}
          hint="As the audit trail calls them. Empty: their address."
        />
        <PowerFields of={of} />
      </Form>
    </Panel>
  );
}
