/** One person, in two parts: who they are and what they may do; and what lets them in. */
import type { Person } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { Fields } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded, PageHeader, Panel } from '../../components/page.tsx';
import { Badge, Status } from '../../components/status.tsx';
import { Tabs, useTab } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import type { PageProps } from '../../pages.ts';
import { hrefOf } from '../../router.ts';
import { loadSession, person } from '../../session.ts';
import { useLoad } from '../../use-load.ts';
import { Access } from './access.tsx';
import { PowerFields, powersIn, WHO } from './power-fields.tsx';

const TABS = { may: 'What they may do', access: 'Signing in' } as const;

export default function PersonPage({ params }: PageProps<'person'>) {
  const load = useLoad('GET /people/{person}', { path: params });
  const tab = useTab(['may', 'access']);
  const of = load.data;
  const changed = (): void => {
    load.reload();
    // The powers of whoever looks may have changed.
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
    const { email, name } = entered.read(WHO);
    await call('PATCH /people/{person}', {
      path: { person: of.id },
      if_match: entered.version,
      body: {
        ...(email !== of.email && { email }),
        ...(name !== of.name && { name }),
        ...powersIn(entered, of),
      },
    });
    toast('The changes are saved and hold from their next request');
    onChange();
  };
  return (
    <Panel>
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <Fields fields={WHO} of={of} />
        <PowerFields of={of} />
      </Form>
    </Panel>
  );
}
