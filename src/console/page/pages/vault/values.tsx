/** The fields of a service, with the values of those that are plain; a secret is shown by itself, for a while, on record. */
import type { ComponentChildren } from 'preact';
import { call, callRaw } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { saveFile } from '../../components/button-link.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { MaskedSecret } from '../../components/masked-secret.tsx';
import { Panel } from '../../components/page.tsx';
import { Badge } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import { type Revealed, useRevealed } from '../../use-revealed.ts';
import { About, AboutButton } from './about.tsx';
import { HistoryButton } from './history.tsx';
import type { ServicePartProps } from './service.tsx';

/** One value as it is listed. */
export interface Line {
  field: string;
  label: string;
  secret: boolean;
  file: boolean;
  /** Of the variable, where its name is another one. */
  env_key?: string;
  help_text?: string;
}

export function Values(part: ServicePartProps) {
  const { path, query, service, onChange } = part;
  const remove = async (field: string, label: string): Promise<void> => {
    await askFirst({
      title: `Remove ${label}?`,
      submit: `Remove ${label}`,
      tone: 'bad',
      told: (
        <p>
          <code>{field}</code> of {service.label} goes. Its history keeps the value for 180 days.
        </p>
      ),
    });
    await call('PUT /projects/{project}/vault/{service}', {
      path,
      query,
      if_match: null,
      body: { values: { [field]: null } },
    });
    toast(`${field} is removed`);
    onChange();
  };
  return (
    <Panel title="Values" lead={leadOf(service.fields.some(({ secret }) => secret))} flush>
      <ValueList
        {...part}
        lines={service.fields}
        actions={({ field, label }) =>
          !part.metadata?.inherited.includes(field) && (
            <ActionButton is_small kind="bad" label={`Remove ${label}`} act={() => remove(field, label)}>
              Remove
            </ActionButton>
          )
        }
      />
    </Panel>
  );
}

export function leadOf(has_secrets: boolean): string {
  if (!has_secrets) return 'Nothing of it is secret.';
  return may('can_reveal_vault')
    ? 'Secrets are shown one at a time, for a while. Each time is recorded in the audit trail, with your name.'
    : 'Showing secrets takes the capability can_reveal_vault.';
}

export function ValueList(
  props: ServicePartProps & {
    lines: readonly Line[];
    /** Of a value that is stored, for those who may change it. */
    actions(line: Line): ComponentChildren;
  },
) {
  const { metadata, lines, actions } = props;
  const revealed = useRevealed<{ field: string; value: string }>();
  return (
    <ul class="values">
      {lines.map((line) => {
        const is_stored = metadata === null || metadata.present[line.field] === true;
        return (
          <li key={line.field}>
            <div class="value-name">
              <span class={line.env_key ? 'strong' : 'mono'}>{line.label}</span>
              {line.env_key && <code class="muted fine">{line.env_key}</code>}
              {line.help_text && <p class="muted fine">{line.help_text}</p>}
              {metadata?.inherited.includes(line.field) && (
                <span class="badges">
                  <Badge>production’s</Badge>
                </span>
              )}
              <About metadata={metadata} field={line.field} />
            </div>
            <div class="value-of">
              {is_stored ? (
                <Value {...props} line={line} revealed={revealed} />
              ) : (
                <span class="muted">not set</span>
              )}
            </div>
            <div class="value-actions">
              {metadata && <HistoryButton {...props} field={line.field} label={line.label} />}
              {is_stored && <AboutButton {...props} field={line.field} label={line.label} />}
              {is_stored && may('can_write_vault') && actions(line)}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Value(
  props: ServicePartProps & { line: Line; revealed: Revealed<{ field: string; value: string }> },
) {
  const { path, query, metadata, line, revealed } = props;
  if (line.file) return <StoredFile path={path} query={query} line={line} />;
  const plain = metadata?.values[line.field];
  if (metadata && !line.secret) {
    return typeof plain === 'string' ? (
      <div class="plain-value">
        {plain === '' ? <span class="muted">empty</span> : <code>{plain}</code>}
        {plain !== '' && <CopyButton text={plain} label={`Copy ${line.label}`} />}
      </div>
    ) : (
      <Badge tone="bad">does not decrypt</Badge>
    );
  }
  const reveal = async (): Promise<void> => {
    const { services, undecryptable } = await call('POST /projects/{project}/vault/{service}/reveal', {
      path,
      query: { ...query, field: line.field },
    });
    const value = services[path.service]?.[line.field];
    if (typeof value === 'string') revealed.show({ field: line.field, value });
    else
      toast(
        undecryptable.length > 0
          ? `${line.label} does not decrypt: it, or its key, is damaged. Store it again.`
          : `Nothing is stored as ${line.label}.`,
        'bad',
      );
  };
  const { shown, left_s, hide } = revealed;
  return (
    <MaskedSecret
      label={line.label}
      shown={shown?.field === line.field ? shown.value : null}
      left_s={left_s}
      hide={hide}
      {...(may('can_reveal_vault') && { reveal })}
    />
  );
}

function StoredFile({ path, query, line }: Pick<ServicePartProps, 'path' | 'query'> & { line: Line }) {
  const download = async (): Promise<void> => {
    const response = await callRaw('GET /projects/{project}/vault-files/{file}', {
      path: { project: path.project, file: `${path.service}.${line.field}` },
      query,
    });
    saveFile(await response.blob(), filenameIn(response) ?? line.field);
  };
  return (
    <div class="row">
      <span>a file</span>
      {may('can_reveal_vault') && (
        <ActionButton is_small is_for_readers label={`Download, on record: ${line.label}`} act={download}>
          Download, on record
        </ActionButton>
      )}
    </div>
  );
}

function filenameIn(response: Response): string | null {
  const header = response.headers.get('content-disposition') ?? '';
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(header)?.[1];
  try {
    if (extended) return decodeURIComponent(extended);
  } catch {
    return null;
  }
  return /filename="?([^";]+)"?/i.exec(header)?.[1] ?? null;
}
