/** The dashboard of Grafana at /docs/grafana.json: its panels, each with what it asks Prometheus. */

interface Panel {
  title: string;
  /** Grafana's name of a unit. */
  unit: 's' | 'reqps' | 'ops' | 'short' | 'bytes';
  /** What is asked, by what its lines are called; `{{lane}}` is a label. */
  queries: Readonly<Record<string, string>>;
}

const quantile = (q: number, metric: string, by = 'le'): string =>
  `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket{job="$job"}[$__rate_interval])))`;
const rate = (metric: string, by: string, only = ''): string =>
  `sum by (${by}) (rate(${metric}{job="$job"${only}}[$__rate_interval]))`;
const now = (metric: string, only = ''): string => `${metric}{job="$job"${only}}`;

const REQUESTS = 'satchel_http_request_duration_seconds';
const FSYNCS = 'satchel_fsync_duration_seconds';
const LOOP = 'satchel_event_loop_delay_seconds';

const PANELS: readonly Panel[] = [
  {
    title: 'Requests by status',
    unit: 'reqps',
    queries: { '{{status}}': rate(`${REQUESTS}_count`, 'status') },
  },
  {
    title: 'Time to answer',
    unit: 's',
    queries: { median: quantile(0.5, REQUESTS), p99: quantile(0.99, REQUESTS) },
  },
  {
    title: 'Busiest routes',
    unit: 'reqps',
    queries: { '{{method}} {{route}}': `topk(10, ${rate(`${REQUESTS}_count`, 'method, route')})` },
  },
  {
    title: 'Slowest routes (p95)',
    unit: 's',
    queries: { '{{route}}': `topk(10, ${quantile(0.95, REQUESTS, 'le, route')})` },
  },
  {
    title: 'Failures of the server by route',
    unit: 'reqps',
    queries: { '{{route}} {{status}}': rate(`${REQUESTS}_count`, 'route, status', ', status=~"5.."') },
  },
  {
    title: 'Event-loop delay',
    unit: 's',
    queries: { median: quantile(0.5, LOOP), p99: quantile(0.99, LOOP) },
  },
  { title: 'What waits', unit: 'short', queries: { '{{lane}}': now('satchel_queue_depth') } },
  {
    title: 'Age of the oldest that is due',
    unit: 's',
    queries: { '{{lane}}': now('satchel_queue_age_seconds') },
  },
  {
    title: 'Mail: attempts by outcome',
    unit: 'ops',
    queries: { '{{outcome}}': rate('satchel_attempts_total', 'outcome') },
  },
  {
    title: 'Mail: what became of it',
    unit: 'ops',
    queries: { '{{outcome}}': rate('satchel_deliveries_total', 'outcome') },
  },
  {
    title: 'Mailboxes that are paused, rest or are slowed',
    unit: 'short',
    queries: {
      '{{state}}': now('satchel_mailboxes', ', state!="active"'),
      'slowest pace, mails a second': now('satchel_slowest_pace_mails_per_second'),
    },
  },
  { title: 'Mails by status', unit: 'short', queries: { '{{status}}': now('satchel_emails') } },
  {
    title: 'Commits and changes',
    unit: 'ops',
    queries: { commits: rate('satchel_commits_total', 'job'), changes: rate('satchel_changes_total', 'job') },
  },
  { title: 'Waiting for the disk (p99)', unit: 's', queries: { '{{of}}': quantile(0.99, FSYNCS, 'le, of') } },
  { title: 'Rows', unit: 'short', queries: { '{{list}}': now('satchel_rows') } },
  {
    title: 'Bytes',
    unit: 'bytes',
    queries: {
      files: now('satchel_object_bytes'),
      '{{file}}': now('satchel_database_bytes'),
      'free of the disk': now('satchel_disk_free_bytes'),
      disk: now('satchel_disk_bytes'),
    },
  },
  {
    title: 'Since inboxes were read, webhooks were to be told, and the newest backup',
    unit: 's',
    queries: {
      inboxes: now('satchel_inbox_lag_seconds'),
      webhooks: now('satchel_webhook_lag_seconds'),
      backup: now('satchel_backup_age_seconds'),
    },
  },
  {
    title: 'Inboxes that fail, backups, and the age of these numbers',
    unit: 'short',
    queries: {
      inboxes: now('satchel_inboxes_failing'),
      backups: now('satchel_backups'),
      'counted so many seconds ago': `time() - ${now('satchel_counted_timestamp_seconds')}`,
    },
  },
];

const [COLUMNS, WIDTH, HEIGHT] = [2, 12, 8];
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

export function buildDashboard() {
  return {
    uid: 'satchel',
    title: 'Satchel',
    tags: ['satchel'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        {
          name: 'job',
          label: 'Job',
          type: 'query',
          datasource: DATASOURCE,
          query: 'label_values(satchel_commits_total, job)',
          refresh: 2,
        },
      ],
    },
    panels: PANELS.map(({ title, unit, queries }, at) => ({
      id: at + 1,
      title,
      type: 'timeseries',
      datasource: DATASOURCE,
      gridPos: { x: (at % COLUMNS) * WIDTH, y: Math.floor(at / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: {
        legend: { displayMode: 'list', placement: 'bottom' },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
      targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
        refId: String.fromCharCode(65 + index),
        datasource: DATASOURCE,
        expr,
        legendFormat,
      })),
    })),
  };
}
