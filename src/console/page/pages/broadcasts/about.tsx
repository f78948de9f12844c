/** What a broadcast is set to, and deleting it. */
import type { ContactList } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Ending } from '../../components/confirm-by-name.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { hrefOf, navigate, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { isOwnSlug } from '../writing/words.ts';
import type { BroadcastPartProps } from './part.tsx';

export function About(props: BroadcastPartProps) {
  const { path, of } = props;
  const list = useLoad('GET /projects/{project}/email-lists/{list}', {
    path: { project: path.project, list: of.list },
  });
  const segment = useLoad(
    'GET /projects/{project}/email-segments/{segment}',
    of.segment === null ? null : { path: { project: path.project, segment: of.segment } },
  );
  const template = of.template !== null && !isOwnSlug(of.template) && (
    <a key="template" href={hrefOf(to`/projects/${path.project}/templates/${of.template}`)}>
      {of.template}
    </a>
  );
  return (
    <>
      <Panel title="About the broadcast">
        <Facts
          of={[
            ['Id', <code key="id">{of.id}</code>],
            [
              'List',
              <a key="list" href={hrefOf(to`/projects/${path.project}/lists/${of.list}`)}>
                {list.data?.name ?? of.list}
              </a>,
            ],
            ...(of.segment === null ? [] : [['Segment', segment.data?.name ?? of.segment] as const]),
            [
              'Who of it',
              of.filter_sentence ?? (of.segment ? 'Whom its segment means.' : 'Everybody who is active.'),
            ],
            ['Template', template || null],
            ['Preheader', of.preheader],
            ...Object.entries(of.variables).map(([name, value]) => [name, value] as const),
            ['Opens', of.track_opens ? 'are counted' : 'are not counted'],
            ['To go out', of.send_at && <Time key="send" at={of.send_at} exact />],
            ['Begun', of.started_at && <Time key="started" at={of.started_at} exact />],
            ['Ended', of.finished_at && <Time key="finished" at={of.finished_at} exact />],
            ['Created', <Time key="created" at={of.created_at} />],
            ['Changed', <Time key="changed" at={of.updated_at} />],
          ]}
        />
      </Panel>
      {!of.is_test && list.data && <InArchive {...props} list={list.data} />}
      {['draft', 'cancelled'].includes(of.status) && <Delete {...props} />}
    </>
  );
}

/** Whether anybody may read it. It is the one thing that may be changed in any status. */
function InArchive({ path, of, list, onChange }: BroadcastPartProps & { list: ContactList }) {
  const put = (in_archive: boolean, done: string, label: string) => (
    <ActionButton
      act={async () => {
        const change = { path, if_match: null, body: { in_archive } };
        await call('PATCH /projects/{project}/email-broadcasts/{broadcast}', change);
        onChange();
      }}
      done={done}
      is_small
    >
      {label}
    </ActionButton>
  );
  const url = of.in_archive && of.status === 'sent' && list.archive_url && `${list.archive_url}/${of.id}`;
  return (
    <Panel title="Archive" lead={LEADS[`${of.in_archive}`]}>
      <p>
        {url && (
          <a href={url} target="_blank" rel="noreferrer">
            {url}
          </a>
        )}
        {of.in_archive && !list.archive_url && 'The list has none at present.'}
      </p>
      <p>
        {of.in_archive !== true && put(true, 'It is for the archive', 'Put it into the archive')}{' '}
        {of.in_archive !== false && put(false, 'It is in no archive', 'Keep it out')}
      </p>
    </Panel>
  );
}

const LEADS = {
  true: 'Anybody may read it in the archive of its list once it is sent.',
  false: 'Nobody reads it in the archive of its list.',
  null: 'It is for the archive if its list has one when sending begins, and it goes to all of the list.',
};

function Delete({ path, of }: BroadcastPartProps) {
  const remove = async (): Promise<void> => {
    await call('DELETE /projects/{project}/email-broadcasts/{broadcast}', { path });
    toast(`${of.name} is deleted`);
    navigate(to`/projects/${path.project}/broadcasts`, { replace: true });
  };
  return (
    <Ending title="Delete the broadcast" name={of.name.trim()} act={remove}>
      {of.started_at === null
        ? 'Its template stays.'
        : 'Its numbers and who had their turn go along; the mail log keeps what was sent.'}
    </Ending>
  );
}
