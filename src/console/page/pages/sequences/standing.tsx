/** The state of a sequence: a draft's obstacles to its start, the reason of a pause, or what a running one waits for. */
import { ApiError, call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { isUnsaved } from '../../components/ask-first.tsx';
import { Loaded, Notice, Panel } from '../../components/page.tsx';
import { WithTimes } from '../../components/time.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import { LastWords } from '../broadcasts/paused.tsx';
import type { SequencePartProps } from './detail.tsx';
import { Problems } from './problems.tsx';

/** The command that resumes it, which the console leaves out: its button stands beside the title. */
const COMMAND = / (Look at the list before|To go on): satchel sequence resume \w+$/;

export function Standing(props: SequencePartProps) {
  if (props.of.status === 'draft') return <BeforeItStarts {...props} />;
  return (
    <>
      {props.of.status === 'paused' && <Paused {...props} />}
      {/* Another status, another answer. */}
      <Why key={props.of.status} {...props} />
    </>
  );
}

function BeforeItStarts({ path, of, onChange }: SequencePartProps) {
  const check = useLoad('GET /projects/{project}/email-sequences/{sequence}/check', { path });
  const activate = async (): Promise<void> => {
    if (isUnsaved()) throw new Error('Save the steps first: what you changed is no part of it yet.');
    try {
      await call('POST /projects/{project}/email-sequences/{sequence}/activate', { path });
      onChange();
    } catch (error) {
      // Here stands each thing that it lacks, with the place where it is mended.
      if (!(error instanceof ApiError) || error.code !== 'activation_refused') throw error;
      check.reload();
      throw new Error('It cannot start yet: see what is missing.');
    }
  };
  return (
    <Panel
      title="Before it starts"
      lead="Activating enrolls nobody: contacts come in afterwards, by being enrolled or, where you chose so, by themselves."
      actions={
        <button type="button" class="button quiet small" onClick={check.reload}>
          Check again
        </button>
      }
    >
      <Loaded load={check}>
        {({ ready, captured, problems }) => (
          <div class="stack" aria-busy={check.is_loading}>
            {captured && <p>All mailboxes of its marketing capture: nobody gets its mail.</p>}
            {ready ? (
              <p class="notice good">Everything is in place: it can start.</p>
            ) : (
              <Problems path={path} of={of} problems={problems} />
            )}
            <div>
              <ActionButton act={activate} kind="primary" done="It is active: enroll contacts now">
                Activate
              </ActionButton>
            </div>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function Paused({ path, of }: SequencePartProps) {
  if (of.pause_reason === 'relay_refuses')
    return (
      <div class="notice bad">
        <p>
          <strong>It paused by itself: mail servers refuse what comes from your mailbox.</strong> Its people
          are not at fault, and nobody of them was suppressed for it. Going on as things are loses their
          mails.
        </p>
        <p>
          <LastWords of={of} /> Have it mended (a blocklist, a log-in, a record in the DNS), then resume: it
          begins to count anew. Mails that failed are queued again by hand.
        </p>
      </div>
    );
  if (of.pause_reason === 'moved')
    return (
      <Notice tone="warn">
        <strong>Paused, as its project moved to another Satchel or came from one.</strong> Once the project is
        active here, resume it: delays run on, and what fell due meanwhile is sent then.
      </Notice>
    );
  if (of.pause_reason === 'restored')
    return (
      <Notice tone="warn">
        <strong>Paused by a restore: what was due may have gone out since the backup was made.</strong> Resume
        it to have all of that sent now. Home lets go all that the restore holds, or drops what was due before
        it.
      </Notice>
    );
  if (of.pause_reason !== 'bounce_threshold')
    return (
      <Notice tone="warn">
        <strong>Paused by hand.</strong> Nothing is sent. Delays run on, and what falls due meanwhile is sent
        when it is resumed.
      </Notice>
    );
  const list = `${hrefOf(to`/projects/${path.project}/lists/${of.list}`)}?status=bounced`;
  return (
    <div class="notice bad">
      <p>
        <strong>It paused by itself: too many of its mails came back.</strong> Going on with such a list costs
        the domain its name with the large providers.
      </p>
      <p>
        Look at <a href={list}>the contacts that bounced</a> and at where the list comes from. The{' '}
        <a href={hrefOf(to`/projects/${path.project}/marketing`)}>marketing settings</a> have the share of
        bounces at which this happens. Resuming begins to count anew.
      </p>
    </div>
  );
}

function Why({ path, of }: SequencePartProps) {
  const load = useLoad('GET /projects/{project}/email-sequences/{sequence}/why', { path });
  const check = useLoad(
    'GET /projects/{project}/email-sequences/{sequence}/check',
    of.status === 'finished' ? null : { path },
  );
  // The sentences end with what is wrong; where that is known, it stands with the way to where it is mended.
  const problems = check.data?.problems ?? [];
  const isProblem = (line: string): boolean =>
    problems.some(({ step, message }) => line === (step === undefined ? message : `${step}: ${message}`));
  const lookAgain = (): void => {
    load.reload();
    check.reload();
  };
  return (
    <Panel
      title="How it stands"
      actions={
        <button type="button" class="button quiet small" onClick={lookAgain}>
          Look again
        </button>
      }
    >
      <Loaded load={load}>
        {({ why }) => (
          <ul class="sentences">
            {why
              .filter((line) => !isProblem(line))
              .map((line) => line.replace(COMMAND, ''))
              .map((line) => (
                <li key={line}>
                  <WithTimes text={line} />
                </li>
              ))}
          </ul>
        )}
      </Loaded>
      {problems.length > 0 && <Problems path={path} of={of} problems={problems} />}
    </Panel>
  );
}
