# SceneCypher as a container: the page (`ui`) or the tools of agents (`mcp`), with its own Neo4j or that of NEO4J_URI.
#
#   docker build -t scenecypher .
#   docker run --rm --network host -v scenecypher:/data scenecypher ui --port 8737
#   docker run --rm -i -v scenecypher:/data scenecypher mcp
#
# The page answers on the machine's own address only, so it needs the host's network (Linux).
FROM python:3.13-slim
RUN useradd --create-home --uid 1000 robot && mkdir /data && chown robot /data
COPY . /source
RUN pip install --no-cache-dir --constraint /source/constraints.txt '/source[agents]' && rm -rf /source
USER robot
ENV SCENECYPHER_HOME=/data XDG_CACHE_HOME=/data/cache PYTHONUNBUFFERED=1
VOLUME /data
ENTRYPOINT ["scenecypher"]
CMD ["ui", "--port", "8737"]
