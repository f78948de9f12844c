/** What the fields of a service have held, or one of them: each value by itself, for a while, on record, and stored again. */
import { useState } from 'preact/hooks';
import type { VaultVersion } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { saveFile } from '../../components/button-link.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { MaskedSecret } from '../../components/masked-secret.tsx';
import { Loaded } from '../../components/page.tsx';
import { Badge } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useLoad } from '../../use-load.ts';
import { useRevealed } from '../../use-revealed.ts';
import type { ServicePartProps } from './service.tsx';

const KINDS = { set: 'stored', removed: 'removed', restored: 'restored' } as const;
/** More than is kept of a field; of a service the newest. */
const ALL = 50;

interface Of extends ServicePartProps {
  /** Of all, where none is named: also of names that are gone. */
  field?: string;
  label: string;
}

export function HistoryButton(props: Of) {
  const [is_open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label={`History of ${props.label}`}
        onClick={() => setOpen(true)}
      >
        History
      </button>
      {is_open && <History {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function History(props: Of & { onClose(): void }) {
  const { path, query, field, label, onChange, onClose } = props;
  const load = useLoad('GET /projects/{project}/vault/{service}/versions', {
    path,
    query: { ...query, ...(field === undefined ? {} : { field }), per_page: ALL },
  });
  const revealed = useRevealed<{ version: string; value: string }>();
  const restore = async ({ version, field }: VaultVersion): Promise<void> => {
    await askFirst({
      title: `Restore ${field}?`,
      submit: 'Restore it',
      told: (
        <p>The value that is stored now stays in the history. Apps have it until they are started anew.</p>
      ),
    });
    await call('POST /projects/{project}/vault/{service}/versions/{version}/restore', {
      path: { ...path, version },
      query,
    });
    toast(`${field} is restored`);
    load.reload();
    onChange();
  };
  const reveal = async ({ version, field, filename }: VaultVersion): Promise<void> => {
    const { value } = await call('POST /projects/{project}/vault/{service}/versions/{version}/reveal', {
      path: { ...path, version },
      query,
    });
    if (typeof value === 'string') revealed.show({ version, value });
    else saveFile(new Blob([bytesOf(value.content_base64)]), filename ?? field);
  };
  return (
    <Dialog title={`History of ${label}`} is_wide onClose={onClose}>
      <p class="muted">
        The last 20 values, 5 of a file, each for 180 days from when it was replaced or removed.
      </p>
      <Loaded load={load}>
        {({ data }) => (
          <ul class="values" aria-label={`What ${label} has held`}>
            {data.length === 0 && <li class="muted">Nothing.</li>}
            {data.map((one) => (
              <li key={one.version}>
                <div class="value-name">
                  {field === undefined && <code>{one.field}</code>}
                  <span>
                    {KINDS[one.kind]} <Time at={one.changed_at} />
                  </span>
                  <p class="muted fine">by {one.by.name}</p>
                  {one.is_current && (
                    <span class="badges">
                      <Badge>now</Badge>
                    </span>
                  )}
                </div>
                <div class="value-of">
                  {one.kind === 'removed' ? null : one.filename === null ? (
                    <MaskedSecret
                      label={`${one.field}, ${one.changed_at}`}
                      shown={revealed.shown?.version === one.version ? revealed.shown.value : null}
                      left_s={revealed.left_s}
                      hide={revealed.hide}
                      {...(may('can_reveal_vault') && { reveal: () => reveal(one) })}
                    />
                  ) : (
                    <StoredFile of={one} act={() => reveal(one)} />
                  )}
                </div>
                <div class="value-actions">
                  {one.kind !== 'removed' && !one.is_current && may('can_write_vault') && (
                    <ActionButton
                      is_small
                      label={`Restore that of ${one.changed_at}`}
                      act={() => restore(one)}
                    >
                      Restore
                    </ActionButton>
                  )}
                </div>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  );
}

function StoredFile({ of, act }: { of: VaultVersion; act(): Promise<void> }) {
  return (
    <div class="row">
      <code>{of.filename}</code>
      {may('can_reveal_vault') && (
        <ActionButton
          is_small
          is_for_readers
          label={`Download, on record: that of ${of.changed_at}`}
          act={act}
        >
          Download, on record
        </ActionButton>
      )}
    </div>
  );
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
