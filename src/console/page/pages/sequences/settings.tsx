/** The settings of a sequence, and its end for good. */
import { call, reloadAll } from '../../api.ts';
import { Ending } from '../../components/confirm-by-name.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { readUtm, UtmFields } from '../marketing/utm-fields.tsx';
import type { SequencePartProps } from './detail.tsx';
import { COUNTING, FirstFields, FurtherFields, MOST, NAME, WHOM } from './sequence-fields.tsx';

export function Settings(props: SequencePartProps) {
  const { path, of, etag } = props;
  const is_draft = of.status === 'draft';
  const list = useLoad('GET /projects/{project}/email-lists/{list}', {
    path: { project: path.project, list: of.list },
  });
  const save = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/email-sequences/{sequence}', {
      path,
      if_match: entered.version,
      body: {
        ...entered.read({ ...NAME, ...MOST, ...COUNTING }),
        utm: readUtm(entered),
        ...(is_draft && { list: entered.text('list'), ...entered.read(WHOM) }),
      },
    });
    toast('The settings are saved');
    reloadAll();
  };
  // Of a draft the fields show it.
  const as_set: [string, string][] = [
    ['At most', counted(of.max_recipients, 'contact')],
    ['For contacts with', of.enroll_tags.join(', ') || 'any tag, or none'],
    ['New contacts', of.auto_enroll_new_contacts ? 'are enrolled by themselves' : 'are enrolled by hand'],
    ['Ended by the events', of.exit_events.join(', ') || 'none'],
    ['Opens', of.track_opens ? 'are counted' : 'are not counted'],
  ];
  return (
    <>
      {of.status !== 'finished' && (
        <Panel title="Settings">
          <Form is_wide submit="Save the settings" version={etag} onSubmit={save}>
            <FirstFields project={path.project} of={of} />
            <FurtherFields of={of} />
            <UtmFields of={of.utm} />
          </Form>
        </Panel>
      )}
      <Panel
        title="About the sequence"
        lead={is_draft ? undefined : 'Whom its mail is for stays once it runs: change that in a copy.'}
      >
        <Facts
          of={[
            ['Id', <code key="id">{of.id}</code>],
            [
              'List',
              <a key="list" href={hrefOf(to`/projects/${path.project}/lists/${of.list}`)}>
                {list.data?.name ?? of.list}
              </a>,
            ],
            ...(is_draft ? [] : as_set),
            ['Created', <Time key="created" at={of.created_at} />],
            ['Changed', <Time key="changed" at={of.updated_at} />],
          ]}
        />
      </Panel>
      {(of.status === 'active' || of.status === 'paused') && <Finish {...props} />}
    </>
  );
}
function Finish({ path, of, onChange }: SequencePartProps) {
  const finish = async (): Promise<void> => {
    await call('POST /projects/{project}/email-sequences/{sequence}/finish', { path });
    toast(`The sequence ${of.name} is finished`);
    onChange();
    navigate(to`/projects/${path.project}/sequences/${path.sequence}`);
  };
  return (
    <Ending
      title="Finish the sequence"
      lead="Its numbers and what was sent stay; it never runs again."
      name={of.name.trim()}
      act={finish}
    >
      {of.stats.active > 0
        ? `${counted(of.stats.active, 'contact')} under way leave it and get nothing more of it. `
        : 'Nobody is under way in it. '}
      It cannot be started again; to stop for a while, pause it.
    </Ending>
  );
}
