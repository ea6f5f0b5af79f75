/** A file of the console, as it is served. */
export interface PageFile {
  readonly type: string;
  /** Changes with the content. */
  readonly etag: string;
  /** The content, compressed by gzip, in base64, cut into pieces. */
  readonly content: readonly string[];
}
