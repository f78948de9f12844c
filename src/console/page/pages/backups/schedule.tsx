/** Tells of the last backup, the next one that the server makes by itself, and where they and the key to them are. */
import type { BackupSchedule } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Fields, number, ownZone, text, zone } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Facts, Notice, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import type { Load } from '../../use-load.ts';

/** Most are asleep, and little is sent. */
const USUAL = '03:30';

const FIELDS = {
  at: text('Time', { type: 'time' }),
  timezone: zone('Time zone'),
  keep: number('How many of these stay'),
};

/** Facts about the next and the last backup. */
export function Standing({ of }: { of: BackupSchedule }) {
  const { next_at, last_backup_at, last_failure, directory, master_key } = of;
  return (
    <>
      {last_failure && (
        <Notice tone="bad">
          <strong>
            A backup failed <Time at={last_failure.at} />.
          </strong>{' '}
          <span class="said">{last_failure.message}</span>
        </Notice>
      )}
      <Panel>
        <Facts
          of={[
            ['Last backup', <Time key="last" at={last_backup_at} none="None was made here yet" />],
            ['Next by itself', <Time key="next" at={next_at} none="None" />],
            ['Folder', <code key="folder">{directory}</code>],
            [
              'Master key',
              <span key="key">
                <code>{master_key.id}</code>, from {originOf(master_key.from)}. It is in no backup: keep a
                copy of it elsewhere, or nothing sealed can be read after a restore.
              </span>,
            ],
          ]}
        />
      </Panel>
    </>
  );
}

/** Has the server make one each day, or none. */
export function EachDay({ load, of }: { load: Load<BackupSchedule>; of: BackupSchedule }) {
  const { at, timezone, keep } = of;
  const set = async (
    if_match: string | null,
    body: Pick<BackupSchedule, 'at' | 'timezone' | 'keep'>,
  ): Promise<void> => {
    await call('PUT /backups/schedule', { body, if_match });
    load.reload();
  };
  const save = (entered: Entered): Promise<void> => set(entered.version, { keep, ...entered.given(FIELDS) });
  return (
    <Panel
      title="Each day, by itself"
      actions={
        at !== null && (
          <ActionButton
            act={() => set(load.etag, { at: null, timezone, keep })}
            done="None is made by itself any more"
          >
            Make none by itself
          </ActionButton>
        )
      }
      lead="The server makes one at this time, and removes the oldest that it made so. What you make yourself stays. Where install.sh set Satchel up, its timer may make one each night too, in /var/lib/satchel-backups."
    >
      <Form
        submit={at === null ? 'Back up each day' : 'Save'}
        onSubmit={save}
        key={`${at} ${timezone} ${keep}`}
        version={load.etag}
        is_wide
      >
        <Fields fields={FIELDS} of={at === null ? { at: USUAL, timezone: ownZone(), keep } : of} />
      </Form>
    </Panel>
  );
}

function originOf(from: string) {
  if (from === 'file')
    return (
      <>
        the file <code>master.key</code> of the data directory
      </>
    );
  return (
    <>
      the setting <code>{from}</code>
    </>
  );
}
