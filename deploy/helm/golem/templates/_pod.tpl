{{/* Every process of Golem: the same image, user, files and variables; `.process` says which it is. */}}
{{- define "golem.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "golem.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
terminationGracePeriodSeconds: {{ .grace }}
containers:
  - name: {{ .process }}
    image: {{ include "golem.image" .top | quote }}
    imagePullPolicy: {{ .top.Values.image.pullPolicy }}
    {{- with .entrypoint }}
    command: {{ toJson . }}
    {{- end }}
    args: {{ toJson .args }}
    securityContext:
      readOnlyRootFilesystem: true
      allowPrivilegeEscalation: false
      capabilities: {drop: [ALL]}
    env:
      - {name: GOLEM_ALLOWED_HOSTS, value: {{ .top.Values.host | quote }}}
      - {name: GOLEM_TRUSTED_PROXIES, value: {{ .top.Values.trustedProxies | quote }}}
      {{- range $name, $file := .top.Values.secretFiles }}
      - {name: {{ $name }}_FILE, value: "/run/secrets/golem/{{ $file }}"}
      {{- end }}
      {{- range $name, $value := .top.Values.environment }}
      - {name: {{ $name }}, value: {{ $value | quote }}}
      {{- end }}
    resources: {{ toJson .resources }}
    {{- with .more }}
    {{- . | nindent 4 }}
    {{- end }}
    volumeMounts:
      - {name: secrets, mountPath: /run/secrets/golem, readOnly: true}
      - {name: var, mountPath: /var/lib/golem}
      - {name: tmp, mountPath: /tmp}
volumes:
  - {name: secrets, secret: {secretName: {{ .top.Values.secret }}, defaultMode: 288}}
  - name: var
    persistentVolumeClaim: {claimName: {{ .top.Values.keys.claim }}}
  - {name: tmp, emptyDir: {}}
{{- end }}
