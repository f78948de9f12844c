/** What suppressions hold as JSON. */
/** A contact that left, by its public id: the status that it had, and when it changed. */
export interface Departed {
  contact: string;
  status: string;
  at: number;
}
