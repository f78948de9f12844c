/** Records of a project as services find and show them, and as the shell names them. */
import { notFound } from '../../errors.ts';
import type { Database, Tx } from '../database/database.ts';
import type { RecordRow, RecordStore } from '../database/record-store.ts';
import { isUlid } from '../host/ids.ts';
import { createNaming, type Naming } from '../words/phrases.ts';

interface RecordKind<Row extends RecordRow> {
  database: Database;
  rows: Pick<RecordStore<Row>, 'find' | 'findAny' | 'findById' | 'listCalled'>;
  /** As messages have it: `List`. */
  noun: string;
  /** The verb that tells which there are. */
  lister?: string;
}

/** What the service of every noun of such records has; `Seen` is what clients see of one. */
export abstract class Records<Row extends RecordRow, Seen> {
  constructor(private readonly kind: RecordKind<Row>) {}

  abstract present(row: Row): Seen;

  /** Whether it is meant by its name only where no other fits. */
  protected isOver(_row: Row): boolean {
    return false;
  }

  /** Null where there is none, for another project's too. */
  find(project_id: number, public_id: string, read: Tx = this.kind.database.read): Row | null {
    return isUlid(public_id) ? this.kind.rows.find(read, project_id, public_id.toUpperCase()) : null;
  }

  /** By `id`; null where it is gone. */
  findById(id: Row['id'], read: Tx = this.kind.database.read): Row | null {
    return this.kind.rows.findById(read, id);
  }

  /** The row, also for other nouns. Throws AppError `not_found`. */
  require(project_id: number, public_id: string, read?: Tx): Row {
    const row = this.find(project_id, public_id, read);
    if (!row) throw notFound(this.kind.noun);
    return row;
  }

  /** The row of one of whatever project, for the operator. Throws AppError `not_found`. */
  requireAny(public_id: string): Row {
    const { database, rows, noun, lister } = this.kind;
    const row = rows.findAny(database.read, public_id.toUpperCase());
    if (!row) throw notFound(noun, lister);
    return row;
  }

  /** As clients see it. Throws AppError `not_found`. */
  get(project_id: number, public_id: string): Seen {
    return this.present(this.require(project_id, public_id));
  }

  /** How the shell finds what has names. */
  naming(this: Records<Row & { name: string }, Seen>): Naming {
    const { database, rows, noun } = this.kind;
    return createNaming(
      noun.toLowerCase(),
      {
        byId: (id) => rows.findAny(database.read, id),
        called: (project_id, name) => rows.listCalled(database.read, project_id, name),
      },
      (row) => {
        const id = row.public_id ?? String(row.id);
        return { key: id, id, is_over: this.isOver(row) };
      },
    );
  }
}
